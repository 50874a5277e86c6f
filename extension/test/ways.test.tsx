import assert from 'node:assert/strict';
import { test } from 'node:test';
import { wayOf } from '../src/panel/ways.tsx';

test('each system has its own line first, and one that is none of the three has that of Linux', () => {
  const lines = ['Win32', 'MacIntel', 'Linux x86_64', 'FreeBSD amd64'].map((platform) => wayOf(platform));
  assert.deepEqual(
    lines.map(({ system, line }) => [system, /^(npx|brew|winget) /.exec(line)?.[1]]),
    [
      ['Windows', 'winget'],
      ['macOS', 'brew'],
      ['Linux', 'npx'],
      ['Linux', 'npx'],
    ],
  );
});
