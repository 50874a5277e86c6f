// Clients that were not written here and are not libraries of Node: programs in e2e/outside.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { repository } from './paths.ts';
import { run } from './process.ts';

const folder = path.join(repository, 'e2e/outside');

/** Builds the conversation of the Go libraries and returns the binary. Go keeps it, so that once is enough. */
export async function buildGoClients(into: string): Promise<string> {
  const binary = path.join(into, 'outside');
  await run('go', ['build', '-C', path.join(folder, 'go'), '-o', binary, '.']);
  return binary;
}

/** The command line of the Inspector, with the Node it needs. */
export function inspector(): { command: string; args: string[] } {
  const node = path.join(folder, 'node_modules/node/bin/node');
  const program = path.join(
    folder,
    'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
  );
  for (const file of [node, program])
    if (!existsSync(file)) throw new Error(`${file} does not exist. Run "npm ci" in e2e/outside first.`);
  return { command: node, args: [program, '--cli'] };
}
