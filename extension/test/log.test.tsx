import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Log } from '../src/panel/log.tsx';
import { inPanel } from './in-panel.tsx';

test('the badge of an entry says what its line does not say already, and is never a sentence that is cut', async () => {
  const at = '2026-03-02T10:00:00Z';
  const entries = [
    {
      kind: 'client',
      decision: 'was added, with the scope: everything',
      detail: 'The client c was added, with the scope: everything',
    },
    { kind: 'rule', decision: 'set', detail: 'wiki: auto → off' },
    { kind: 'decision', decision: 'allowed for the session', tool: 'demo__hello' },
  ].map((entry, i) => ({ n: i + 1, at, client: 'c', durationMs: 0, hash: '', ...entry }));
  const { root, shows, end } = inPanel(<Log />, { 'audit?limit=50': { entries } });
  await shows('wiki: auto');
  const badges = Array.from(root.querySelectorAll('.badge'), (one) => one.textContent);
  assert.deepEqual(badges, ['client', 'set', 'allowed for the session']);
  end();
});
