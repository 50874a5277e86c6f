// Programs that a test starts, and ends again whatever happens.

import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';

export interface Program {
  readonly pid: number;
  /** What it wrote to stdout so far. */
  printed(): string;
  /** What it wrote to stdout and stderr so far. */
  output(): string;
  /** Writes to its input, which has to be open. */
  type(text: string): void;
  /** Resolves with the exit code, or -1 when a signal ended it. */
  readonly ended: Promise<number>;
  /** Ends the program and everything it started. */
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** Starts a program, in a folder of its own if one is given. Its input is empty, or is what is given and stays open. */
export function start(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
  input?: string,
  folder?: string,
): Program {
  // A group of its own: stop() then reaches the children of the program too.
  const child = spawn(command, args, {
    env: { ...process.env, ...(folder === undefined ? {} : { PWD: folder }), ...env },
    cwd: folder,
    stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
    detached: true,
  });
  let printed = '';
  let written = '';
  child.stdin?.on('error', () => {}); // a program that has ended reads nothing more: how it ended is what counts
  if (input) child.stdin?.write(input);
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
    written += text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    written += text;
  });
  const { pid } = child;
  if (pid === undefined) throw new Error(`${command} could not be started. Is it installed?`);
  const ended = exit(child);
  return {
    pid,
    ended,
    printed: () => printed,
    output: () => written,
    type: (text) => void child.stdin?.write(text),
    async stop(signal = 'SIGTERM') {
      signalGroup(pid, signal);
      await ended;
      signalGroup(pid, 'SIGKILL'); // what is left of its group
    },
  };
}

/** Runs a program to its end and returns its stdout; throws when it failed. */
export async function run(
  command: string,
  args: readonly string[],
  env?: Record<string, string>,
): Promise<string> {
  const program = start(command, args, env);
  const code = await program.ended;
  if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${program.output()}`);
  return program.printed();
}

async function exit(child: ChildProcess): Promise<number> {
  await once(child, 'close');
  return child.exitCode ?? -1;
}

function signalGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // The group is gone already.
  }
}
