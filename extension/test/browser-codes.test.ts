// Every code with which the browser's tools fail is in a table that people can read.
import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import test from 'node:test';

const root = path.resolve(import.meta.dirname, '../..');
const browser = path.join(root, 'extension/src/browser');
const capability = path.join(root, 'extension/src/capabilities/browser');
const calls = path.join(root, 'extension/src/worker/calls');

const rowsOf = (page: string): Set<string> =>
  new Set(Array.from(page.matchAll(/^\| `([A-Z_]+)` \|/gm), ([, code = '']) => code));

test('the codes of the browser tools are documented, and no others', async () => {
  const read = (name: string) => readFile(path.join(root, 'docs', name), 'utf8');
  const own = rowsOf(await read('browser-acting.md'));
  const errors = await read('errors.md');
  const files = (await readdir(browser, { recursive: true }))
    .filter(
      (name) => name.endsWith('.ts') && !path.basename(name).startsWith('dev') && !name.startsWith('dev'),
    )
    .map((name) => path.join(browser, name));
  const thrown = new Set<string>();
  const find = async (file: string, form: RegExp) => {
    for (const [, code = ''] of (await readFile(file, 'utf8')).matchAll(form)) thrown.add(code);
  };
  for (const file of files) await find(file, /'([A-Z]{2,}(?:_[A-Z]+)+)'/g);
  // What the worker refuses in the name of the link to the browser, the relay translates.
  const workers = ['looking', 'moving', 'picture', 'waiting'].map((name) =>
    path.join(capability, `${name}.ts`),
  );
  for (const name of ['tool-runner', 'documents']) workers.push(path.join(calls, `${name}.ts`));
  for (const file of workers) await find(file, /Ended\.as\(\s*'([A-Z_]+)'/g);
  thrown.delete('UNKNOWN_REF'); // within the page only
  for (const code of thrown)
    assert.ok(own.has(code) || errors.includes(`### ${code}\n`), `${code} is in no table`);
  for (const code of own) assert.ok(thrown.has(code), `${code} is thrown by nothing`);
});
