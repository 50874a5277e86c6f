// A machine that an administrator manages: programs that a test starts on it see an /etc of its own, by a mount that
// nobody else sees. So they are the programs and the folders that people have, and other tests see nothing of it.

import { spawnSync } from 'node:child_process';
import { cp, mkdir, rename, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Closing } from './closing.ts';
import { binary, browser, temporaryFolder } from './paths.ts';

/** Why there is no such machine here; undefined: there is. */
export function noMachine(): string | undefined {
  const tried = spawnSync('unshare', ['--mount', 'true'], { encoding: 'utf8' });
  if (tried.status === 0) return undefined;
  return `mounts of its own need root on Linux: ${tried.error?.message ?? tried.stderr.trim()}`;
}

export class Machine {
  /** Programs of the same names, on this machine. */
  readonly chromium: string;
  readonly tabrelay: string;
  readonly #etc: string;

  private constructor(folder: string) {
    this.#etc = path.join(folder, 'etc');
    this.chromium = path.join(folder, 'chromium');
    this.tabrelay = path.join(folder, 'tabrelay');
  }

  static async open(closing: Closing): Promise<Machine> {
    const machine = new Machine(await temporaryFolder('machine', closing));
    await cp('/etc', machine.#etc, { recursive: true, verbatimSymlinks: true });
    for (const folder of ['tabrelay', 'chromium/policies/managed'])
      await mkdir(path.join(machine.#etc, folder), { recursive: true, mode: 0o755 });
    await machine.#start(machine.chromium, browser);
    await machine.#start(machine.tabrelay, binary);
    return machine;
  }

  /** Writes the policy of tabrelay. */
  async policy(text: string | object): Promise<void> {
    await this.#write('tabrelay/policy.json', text);
  }

  /** Writes the policy of Chromium. */
  async browserPolicy(policies: object): Promise<void> {
    await this.#write('chromium/policies/managed/test.json', policies);
  }

  async #write(name: string, text: string | object): Promise<void> {
    const file = path.join(this.#etc, name);
    await writeFile(`${file}.new`, typeof text === 'string' ? text : JSON.stringify(text), { mode: 0o644 });
    await rename(`${file}.new`, file);
  }

  async #start(file: string, program: string): Promise<void> {
    const inside = 'mount --bind "$0" /etc && exec "$@"';
    const script = `#!/bin/sh\nexec unshare --mount sh -c '${inside}' '${this.#etc}' '${program}' "$@"\n`;
    await writeFile(file, script, { mode: 0o755 });
  }
}
