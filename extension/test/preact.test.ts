// The build uses copies of Preact's files, because it must work without Node.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

const published: Record<string, string> = {
  'preact.mjs': 'preact',
  'hooks.mjs': 'preact/hooks',
  'jsxRuntime.mjs': 'preact/jsx-runtime',
};

for (const [file, module] of Object.entries(published)) {
  test(`${file} is the published one, to the byte`, () => {
    const copy = readFileSync(new URL(`../preact/${file}`, import.meta.url));
    assert.ok(copy.equals(readFileSync(new URL(import.meta.resolve(module)))));
  });
}
