// The binary under test, with a home folder of its own.

import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { get } from 'node:http';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { expect } from '@playwright/test';
import { z } from 'zod';
import type { Closing } from './closing.ts';
import { binary, requireBinary, temporaryFolder } from './paths.ts';
import { type Program, run, start } from './process.ts';
import { confirmed } from './terminal.ts';

/**
 * How often is asked for what every test waits for, in milliseconds. With Playwright's own steps (100, 250, 500, 1000)
 * a relay that listens is noticed a quarter of a second late, in the median.
 */
export const soon = { intervals: [10, 20, 40, 80, 100] };

const Address = z.object({ address: z.string(), pid: z.number() });

const Status = z.object({
  browsers: z.array(z.object({ connected: z.boolean(), label: z.string(), profileId: z.string() })),
  tabs: z.array(z.object({ url: z.string() })),
});

/** What a relay is told in a test that is about neither permissions nor reviews: agents may call every tool. */
const open = { TABRELAY_PERMISSIONS: 'auto', TABRELAY_REVIEW_REQUIRED: 'false' };

/** The same in a test that is not about who owns a tab: several agents may change things in one. */
const shared = { TABRELAY_TABS_OWNERSHIP: 'off' };

export interface RelayOptions {
  /** Permissions and reviews as a person has them who configured nothing, or what config says of them. */
  guarded?: boolean;
  /** A tab belongs to the agent that changes something in it. */
  owned?: boolean;
  /** The program, where it is another one, or started in another way. */
  program?: string;
}

export class Relay {
  readonly home: string;
  readonly env: Record<string, string>;
  readonly binary: string;
  #program: Program | undefined;
  #clients = 0;

  constructor(home: string, { guarded = false, owned = guarded, program = binary }: RelayOptions = {}) {
    this.home = home;
    this.binary = program;
    this.env = { TABRELAY_HOME: home, ...(guarded ? {} : open), ...(owned ? {} : shared) };
  }

  get extension(): string {
    return path.join(this.home, 'extension');
  }

  /** Writes config.json. The relay reads it when it starts and at `tabrelay … reload`. */
  async configure(config: Record<string, unknown>): Promise<void> {
    await writeFile(path.join(this.home, 'config.json'), JSON.stringify(config, null, 2));
  }

  /** Starts `tabrelay serve` and waits until it listens. */
  async start(): Promise<void> {
    const program = start(this.binary, ['serve'], this.env);
    this.#program = program;
    const failed = program.ended.then((code) => {
      throw new Error(`the relay ended with ${code}:\n${program.output()}`);
    });
    failed.catch(() => {}); // once it listens, ending is what a test asks for
    const listening = expect.poll(async () => (await this.announced())?.pid, soon).toBe(program.pid);
    await Promise.race([listening, failed]);
  }

  /** Ends the relay; SIGKILL is a crash. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    await this.#program?.stop(signal);
  }

  /** Ends the relay as a person does, so that no attached client starts the next one. */
  async down(): Promise<void> {
    await this.tabrelay('down');
    await this.#program?.ended;
  }

  /** What relay.json says, or undefined while it says nothing. */
  async announced() {
    const text = await readFile(path.join(this.home, 'relay.json'), 'utf8').catch(() => '');
    return text === '' ? undefined : Address.parse(JSON.parse(text));
  }

  async url(pathname: string): Promise<string> {
    const announced = await this.announced();
    if (!announced) throw new Error('no relay is running');
    return `http://${announced.address}${pathname}`;
  }

  /** The token of a new HTTP client. */
  async token(): Promise<string> {
    this.#clients++;
    return (await this.person('clients', 'add', `e2e-${this.#clients}`)).trim();
  }

  /** How many browser profiles are connected. */
  async browsers(): Promise<number> {
    const { browsers } = await this.#status();
    return browsers.filter((browser) => browser.connected).length;
  }

  /** The browser profiles that the relay knows. */
  async profiles(): Promise<{ connected: boolean; label: string; id: string }[]> {
    const { browsers } = await this.#status();
    return browsers.map(({ profileId, ...browser }) => ({ ...browser, id: profileId }));
  }

  /** URLs of the tabs the relay knows. */
  async tabs(): Promise<string[]> {
    const { tabs } = await this.#status();
    return tabs.map((tab) => tab.url);
  }

  /** Asks as the person's own programs do, with the token of this machine. */
  async asPerson(method: string, pathname: string): Promise<unknown> {
    const secrets = await readFile(path.join(this.home, 'secrets.json'), 'utf8');
    const { local } = z.object({ local: z.string() }).parse(JSON.parse(secrets));
    const headers = { authorization: `Bearer ${local}` };
    const response = await fetch(await this.url(pathname), { method, headers });
    expect(response.status, pathname).toBe(200);
    return response.json();
  }

  /**
   * What `tabrelay status` prints, over the socket that it asks: tests ask again and again until it says what they wait
   * for, and a program for each question costs 60 ms of processor time.
   */
  async #status() {
    const socketPath = path.join(this.home, 'relay.sock');
    // No connection is kept: the next one may be that of another relay.
    const request = get({ socketPath, host: '127.0.0.1', path: '/api/v1/status', agent: false });
    const [answer] = await once(request, 'response');
    return Status.parse(await json(answer));
  }

  /** What the relay and its extension have to say, for the report of a failed test. */
  log(): string {
    return this.#program?.output() ?? '';
  }

  /** Runs a command that lets agents do more, as a person who confirms it at their terminal; returns its stdout. */
  person(...args: string[]): Promise<string> {
    return confirmed(this, args);
  }

  /** Runs a command of the binary against this home folder. */
  tabrelay(...args: string[]): Promise<string> {
    return run(this.binary, args, this.env);
  }
}

/** A relay that is running, in a temporary home folder. */
export async function openRelay(
  closing: Closing,
  config: Record<string, unknown> = {},
  options: RelayOptions = {},
): Promise<Relay> {
  requireBinary();
  const relay = new Relay(await temporaryFolder('home', closing), options);
  await relay.configure({ listen: '127.0.0.1:0', demo: { listen: '127.0.0.1:0' }, ...config });
  closing.defer(() => relay.stop());
  await relay.start();
  return relay;
}
