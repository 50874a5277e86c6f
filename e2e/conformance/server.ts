// The server under test: package front, with the fixtures of the suite behind it.

import path from 'node:path';
import { type Program, start } from '../stage/process.ts';

const repository = path.resolve(import.meta.dirname, '../..');

/** Builds it into a folder and returns its path. */
export async function build(folder: string): Promise<string> {
  const binary = path.join(folder, 'server');
  await succeed(start('go', ['build', '-C', repository, '-o', binary, './relay/agent/front/conformance']));
  return binary;
}

/** Waits until the server has said where it is. */
export async function address(server: Program): Promise<string> {
  for (let tries = 0; tries < 1200; tries++) {
    const line = server.printed().trim();
    if (line !== '') return line;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error(`the server did not start:\n${server.output()}`);
}

export async function succeed(program: Program): Promise<void> {
  const code = await program.ended;
  if (code !== 0) throw new Error(`a program ended with ${code}:\n${program.output()}`);
}
