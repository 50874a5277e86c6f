// Builds the store edition of the extension for a test, into a folder of its own.

import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { repository } from '../product.ts';
import { run } from '../run.ts';

/** The store edition, unpacked and as a zip. */
export interface BuiltStore {
  zip: string;
  files: string[];
  text(name: string): string;
  remove(): void;
}

export function buildStore(): BuiltStore {
  const folder = mkdtempSync(path.join(tmpdir(), 'tabrelay-store-'));
  const unpacked = path.join(folder, 'unpacked');
  const zip = path.join(folder, 'store.zip');
  run('go', ['run', './bundle', '-store', unpacked], { cwd: path.join(repository, 'extension') });
  run('go', ['run', './packaging/store', '-folder', unpacked, '-time', '1795610277', zip], {
    cwd: repository,
  });
  const files = readdirSync(unpacked, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => path.relative(unpacked, path.join(entry.parentPath, entry.name)))
    .sort();
  return {
    zip,
    files,
    text: (name) => readFileSync(path.join(unpacked, name), 'utf8'),
    remove: () => rmSync(folder, { recursive: true }),
  };
}
