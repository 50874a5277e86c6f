// Where things are: the repository, the binary under test, the browser.

import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Closing } from './closing.ts';

export const repository = path.resolve(import.meta.dirname, '../..');

export const binary = process.env.TABRELAY_BINARY ?? path.join(repository, 'bin/tabrelay');

export const browser = process.env.CHROMIUM ?? '/usr/bin/chromium';

/** A folder that is removed at the end. Its path is short: a Unix socket's path may have 100 characters. */
export async function temporaryFolder(name: string, closing: Closing): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), `tr-${name}-`));
  // A browser may still be writing to its profile while it ends.
  closing.defer(() => rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));
  return folder;
}

export function requireBinary(): void {
  if (!existsSync(binary)) throw new Error(`${binary} does not exist. Run "make build" first.`);
}
