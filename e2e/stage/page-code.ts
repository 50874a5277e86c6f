// Code of the extension in a page without the extension: no relay and no worker, one Chromium for all tests of a
// Playwright worker (its own fixtures `browser` and `page`).

import path from 'node:path';
import { build } from 'esbuild';
import { repository } from './paths.ts';

const built = new Map<string, Promise<string>>();

/** A module as a script for a page. What it imports is relative to a folder of the repository. It is built once. */
export function pageCode(module: string, folder = 'extension/src/browser'): Promise<string> {
  const key = `${folder}\n${module}`;
  const script = built.get(key) ?? bundle(module, folder);
  built.set(key, script);
  return script;
}

async function bundle(contents: string, folder: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: path.join(repository, folder), loader: 'ts' },
    bundle: true,
    write: false,
    format: 'iife',
    alias: { '@tabrelay/plugin-sdk': path.join(repository, 'plugin-sdk/src/index.ts') },
  });
  return outputFiles[0]?.text ?? '';
}
