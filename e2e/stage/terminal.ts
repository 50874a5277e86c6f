// A person at a terminal: the command runs in a pseudo-terminal of its own, made by script(1).

import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { Closing } from './closing.ts';
import { type Program, start } from './process.ts';

/** The program, and its environment. */
interface Tabrelay {
  binary: string;
  env: Record<string, string>;
}

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

/** Runs a command at a terminal where a person types the word that confirms what it changes; returns its stdout. */
export async function confirmed({ binary, env }: Tabrelay, args: readonly string[]): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'tr-said-'));
  const said = path.join(folder, 'stdout');
  const command = `${[binary, ...args].map(quoted).join(' ')} >${quoted(said)}`;
  const program = start('script', ['-qefc', command, '/dev/null'], env, 'yes\n');
  try {
    const code = await program.ended;
    if (code !== 0) throw new Error(`tabrelay ${args.join(' ')} ended with ${code}:\n${program.output()}`);
    return await readFile(said, 'utf8');
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/** Runs a command of the binary where stdin, stdout and stderr are a terminal, and types what is given. */
export function atTerminal(relay: Tabrelay, closing: Closing, args: readonly string[], typed = ''): Program {
  const command = `exec ${[relay.binary, ...args].map(quoted).join(' ')}`;
  const program = start('script', ['-qefc', command, '/dev/null'], { ...relay.env, PAGER: '' }, typed);
  closing.defer(() => program.stop());
  return program;
}

/** Kills the command itself. Stopping its program with SIGKILL only closes its terminal; then it ends in order. */
export async function killCommand(program: Program): Promise<void> {
  const children = await readFile(`/proc/${program.pid}/task/${program.pid}/children`, 'utf8');
  process.kill(Number(children), 'SIGKILL');
  await program.ended;
}
