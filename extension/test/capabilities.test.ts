// Each capability can be taken out: without its folder and its lines in the lists, the extension compiles.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, test } from 'node:test';

const root = path.resolve(import.meta.dirname, '../..');
const copy = mkdtempSync(path.join(tmpdir(), 'tabrelay-capabilities-'));
after(() => rmSync(copy, { recursive: true }));

const source = path.join(copy, 'extension/src');
const lists = ['worker.ts', 'bridge.ts', 'panel.ts'];

// The compiler finds everything else where it is.
mkdirSync(path.join(copy, 'extension'));
for (const name of ['node_modules', 'plugin-sdk']) symlinkSync(path.join(root, name), path.join(copy, name));
const own = path.join(root, 'extension/node_modules');
if (existsSync(own)) symlinkSync(own, path.join(copy, 'extension/node_modules'));
cpSync(path.join(root, 'tsconfig.base.json'), path.join(copy, 'tsconfig.base.json'));
const { compilerOptions } = JSON.parse(readFileSync(path.join(root, 'extension/tsconfig.json'), 'utf8'));
const tsconfig = { extends: '../tsconfig.base.json', compilerOptions, include: ['src'] };
writeFileSync(path.join(copy, 'extension/tsconfig.json'), JSON.stringify(tsconfig));

function compile(): string {
  const tsc = path.join(root, 'node_modules/.bin/tsc');
  const { stdout, stderr, status } = spawnSync(tsc, ['-p', path.join(copy, 'extension')], {
    encoding: 'utf8',
  });
  return status === 0 ? '' : stdout + stderr;
}

/** A list of capabilities without one: neither imported nor in the list. */
function without(name: string, text: string): string {
  const line = new RegExp(`^import \\{ (\\w+) \\} from './${name}/.*\\n`, 'm');
  const [, imported] = line.exec(text) ?? [];
  return imported === undefined
    ? text
    : text.replace(line, '').replace(new RegExp(`\\b${imported}\\b(?:, )?`), '');
}

const capabilities = readdirSync(path.join(root, 'extension/src/capabilities'), { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

for (const name of capabilities) {
  test(`the extension compiles without ${name}`, () => {
    rmSync(source, { recursive: true, force: true });
    cpSync(path.join(root, 'extension/src'), source, { recursive: true });
    const folder = path.join(source, 'capabilities');
    rmSync(path.join(folder, name), { recursive: true });
    let taken = 0;
    for (const list of lists) {
      const before = readFileSync(path.join(folder, list), 'utf8');
      const left = without(name, before);
      if (left !== before) taken++;
      writeFileSync(path.join(folder, list), left);
    }
    assert.ok(taken > 0, `no list has ${name}`);
    assert.equal(compile(), '');
  });
}

test('a line that stays behind is found', () => {
  rmSync(source, { recursive: true, force: true });
  cpSync(path.join(root, 'extension/src'), source, { recursive: true });
  rmSync(path.join(source, 'capabilities/recording'), { recursive: true });
  assert.match(compile(), /capabilities\/worker\.ts.*recording/);
});
