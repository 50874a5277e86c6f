// Who may import whom between the folders of the extension, as relay/deps_test.go has it for Go.
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';

const source = fileURLToPath(new URL('../src', import.meta.url));

/** The folders from which files of a folder may import, beside shared/. A folder that is not here may not exist. */
const may: Record<string, readonly string[]> = {
  shared: ['protocol'], // types of frames
  protocol: [],
  page: [],
  'bridge/core': [],
  bridge: ['page', 'capabilities'],
  browser: [],
  panel: ['capabilities'],
  wake: [],

  'worker/util': [],
  'worker/tabs': ['protocol'],
  'worker/link': ['protocol', 'worker/util'],
  'worker/documents': ['protocol', 'worker/tabs', 'worker/util'],
  'worker/calls': ['protocol', 'worker/documents', 'worker/link', 'worker/tabs', 'worker/util'],
  'worker/person': ['worker/calls', 'worker/link', 'worker/util'],
  'worker/core': ['protocol', 'worker/calls', 'worker/documents', 'worker/link', 'worker/tabs'],
  worker: ['protocol', 'capabilities', 'worker/*'], // the only place where everything meets

  // No capability imports another one.
  'capabilities/agents': ['panel'],
  'capabilities/browser': [
    'bridge/core',
    'browser',
    'page',
    'worker/calls',
    'worker/core',
    'worker/documents',
    'worker/tabs',
    'worker/util',
  ],
  'capabilities/devtools': [
    'browser',
    'panel',
    'worker/calls',
    'worker/core',
    'worker/documents',
    'worker/tabs',
  ],
  'capabilities/handover': ['panel', 'worker/core', 'worker/util'],
  'capabilities/recording': ['bridge/core', 'panel', 'worker/core', 'worker/documents'],
  'capabilities/resources': [
    'browser',
    'protocol',
    'worker/core',
    'worker/documents',
    'worker/tabs',
    'worker/util',
  ],
  'capabilities/webmcp': [
    'bridge/core',
    'protocol',
    'worker/calls',
    'worker/core',
    'worker/documents',
    'worker/tabs',
    'worker/util',
  ],
  capabilities: ['bridge/core', 'panel', 'worker/core', 'capabilities/*'],
};

const isIn = (folder: string, list: readonly string[]): boolean =>
  list.some((one) => one === folder || (one.endsWith('/*') && folder.startsWith(one.slice(0, -1))));

/** The folder of the table that a file belongs to: the deepest that is in it. */
function folderOf(file: string): string {
  const folder = path.dirname(file);
  return folder in may || !folder.includes('/') ? folder : folderOf(folder);
}

const imported = /(?:from|import)\s+'(\.[^']+)'/g;

const files = readdirSync(source, { recursive: true, encoding: 'utf8' });

const imports = files
  .filter((file) => /\.tsx?$/.test(file))
  .flatMap((file) =>
    Array.from(readFileSync(path.join(source, file), 'utf8').matchAll(imported), ([, to = '']) => ({
      file,
      from: folderOf(file),
      to: folderOf(path.join(path.dirname(file), to)),
    })),
  );

test('folders import only what the table allows them', () => {
  const wrong = imports.filter(
    ({ from, to }) => from !== to && to !== 'shared' && !isIn(to, may[from] ?? []),
  );
  assert.deepEqual(
    wrong.map(({ file, to }) => `${file} imports ${to}`),
    [],
  );
});

test('the table allows nothing that no file needs', () => {
  const spare = Object.entries(may).flatMap(([from, list]) =>
    list
      .filter((to) => !imports.some((one) => one.from === from && isIn(one.to, [to])))
      .map((to) => `${from}: ${to}`),
  );
  assert.deepEqual(spare, []);
});
