// Starts a program and waits for it. What it prints is seen; one that fails ends the script.

import { spawnSync } from 'node:child_process';

export interface Options {
  cwd?: string;
  env?: NodeJS.ProcessEnv;
}

export function run(command: string, args: readonly string[], options: Options = {}): void {
  ended(command, args, spawnSync(command, args, { ...options, stdio: ['ignore', 'inherit', 'inherit'] }));
}

/** The same, and returns what it printed on stdout. */
export function printed(command: string, args: readonly string[], options: Options = {}): string {
  const result = spawnSync(command, args, {
    ...options,
    stdio: ['ignore', 'pipe', 'inherit'],
    encoding: 'utf8',
    maxBuffer: 1 << 28,
  });
  ended(command, args, result);
  return result.stdout;
}

function ended(
  command: string,
  args: readonly string[],
  result: { status: number | null; error?: Error },
): void {
  if (result.error) throw result.error;
  if (result.status !== 0)
    throw new Error(`${[command, ...args].join(' ')} ended with ${result.status ?? 'a signal'}`);
}
