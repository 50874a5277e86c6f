// Faults to cause while calls run: what a bad day does to a browser and a relay, one at a time.

import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { stopWorker } from './browser.ts';
import type { Closing } from './closing.ts';
import { freePort } from './port.ts';
import { type Detour, openProxy } from './proxy.ts';
import type { Relay } from './relay.ts';
import { openTally, type TallyStage } from './tally.ts';
import { expect } from './test.ts';

const Pairing = z.object({ address: z.string(), secret: z.string() });

export type Fault =
  | 'worker stopped'
  | 'socket cut'
  | 'relay killed'
  | 'relay ended'
  | 'tab closed'
  | 'tab reloaded';

/** The tally stage with a link that can be cut and two tabs of the site. */
export class TroubledStage {
  readonly stage: TallyStage;
  readonly #proxy: Detour;

  private constructor(stage: TallyStage, proxy: Detour) {
    this.stage = stage;
    this.#proxy = proxy;
  }

  static async open(closing: Closing): Promise<TroubledStage> {
    const listen = `127.0.0.1:${await freePort()}`; // the same after a restart, for the clients that speak HTTP
    let proxy: Detour | undefined;
    const stage = await openTally(closing, {
      config: { listen },
      async beforeBrowser(relay) {
        proxy = await openProxy(listen, closing);
        await detour(relay, proxy);
      },
    });
    if (!proxy) throw new Error('the proxy was not opened');
    closing.defer(() => stage.relay.tabrelay('down')); // a stdio proxy may have started it anew
    await openTab(stage);
    return new TroubledStage(stage, proxy);
  }

  /** Causes a fault. Resolves when it has happened, not when everything is well again. */
  async cause(fault: Fault): Promise<void> {
    const { browser, relay } = this.stage;
    switch (fault) {
      case 'worker stopped':
        return await stopWorker(browser);
      case 'socket cut':
        return this.#proxy.cut();
      case 'relay killed':
        return await this.#restart(relay, 'SIGKILL');
      case 'relay ended':
        return await this.#restart(relay, 'SIGTERM');
      case 'tab closed': {
        const [oldest] = browser.pages();
        await openTab(this.stage);
        await oldest?.close();
        return;
      }
      case 'tab reloaded':
        await browser.pages().at(-1)?.reload();
    }
  }

  /** Ends the relay; the clients on stdio start the next one. */
  async #restart(relay: Relay, signal: NodeJS.Signals): Promise<void> {
    const before = (await relay.announced())?.pid;
    if (before === undefined) throw new Error('there is no relay to end');
    process.kill(before, signal);
    await expect
      .poll(async () => (await relay.announced())?.pid ?? before, { message: 'the next relay' })
      .not.toBe(before);
    await detour(relay, this.#proxy);
    // The browser has dialled the relay itself meanwhile. A worker that starts again takes the detour.
    await stopWorker(this.stage.browser);
  }
}

async function openTab({ browser, site }: TallyStage): Promise<void> {
  const page = await browser.newPage();
  await page.goto(site.url);
}

/** Sends the extension through the proxy from its next connection on. */
async function detour(relay: Relay, proxy: Detour): Promise<void> {
  const file = path.join(relay.extension, 'pairing.json');
  const { secret } = Pairing.parse(JSON.parse(await readFile(file, 'utf8')));
  await writeFile(file, JSON.stringify({ address: proxy.address, secret }));
}
