// `tabrelay plugin record` at a terminal, as a person uses it.

import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { expect } from '@playwright/test';
import type { Closing } from './closing.ts';
import { temporaryFolder } from './paths.ts';
import type { Program } from './process.ts';
import type { Relay } from './relay.ts';
import { atTerminal } from './terminal.ts';

export interface Recorded {
  program: Program;
  /** The draft's folder. */
  folder: string;
  /** Presses Enter, and waits until the draft is there. */
  finish(): Promise<void>;
}

/** Begins to record an address in a new tab; the person agrees. */
export async function record(relay: Relay, closing: Closing, name: string, url: string): Promise<Recorded> {
  const folder = path.join(await temporaryFolder('draft', closing), name);
  const program = atTerminal(
    relay,
    closing,
    ['plugin', 'record', name, '--url', url, '--dir', folder],
    'yes\n',
  );
  await expect.poll(() => program.output()).toContain('Recording tab');
  return {
    program,
    folder,
    async finish() {
      program.type('\n');
      const code = await program.ended;
      expect(code, program.output()).toBe(0);
    },
  };
}

/** Everything that is written in a folder, by file. */
export async function written(folder: string): Promise<Map<string, string>> {
  const all = new Map<string, string>();
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    const file = path.join(entry.parentPath, entry.name);
    if (entry.isFile()) all.set(path.relative(folder, file), await readFile(file, 'utf8'));
  }
  return all;
}
