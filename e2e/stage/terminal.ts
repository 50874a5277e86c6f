// A person at a terminal: the command runs in a pseudo-terminal of its own, made by script(1).

import type { Closing } from './closing.ts';
import { binary } from './paths.ts';
import { type Program, start } from './process.ts';
import type { Relay } from './relay.ts';

const quoted = (word: string) => `'${word.replaceAll("'", "'\\''")}'`;

/** Runs a command of the binary where stdin, stdout and stderr are a terminal, and types what is given. */
export function atTerminal(relay: Relay, closing: Closing, args: readonly string[], typed = ''): Program {
  const command = [binary, ...args].map(quoted).join(' ');
  const program = start('script', ['-qefc', command, '/dev/null'], { ...relay.env, PAGER: '' }, typed);
  closing.defer(() => program.stop());
  return program;
}
