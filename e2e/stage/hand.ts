// The hand of a person in a Chrome that nobody drives: an extension of its own, beside tabrelay's, that opens and
// closes windows, moves tabs between them, and switches tabrelay off and on. It asks the test what to do.

import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import path from 'node:path';
import { json } from 'node:stream/consumers';
import { expect } from '@playwright/test';
import { z } from 'zod';
import type { Closing } from './closing.ts';
import { temporaryFolder } from './paths.ts';
import { portOf } from './port.ts';

/** What the hand can do, in the worker of its extension. */
const worker = (home: string) => `
const orders = {
  windows: async () => (await chrome.windows.getAll({ populate: true })).map(({ id, tabs }) =>
    ({ id, tabs: tabs.map(({ id, url, pendingUrl }) => ({ id, url: url || pendingUrl || '' })) })),
  open: async (url) => (await chrome.windows.create({ url })).id,
  close: (id) => chrome.windows.remove(id),
  tear: async (tabId) => (await chrome.windows.create({ tabId })).id,
  move: async (tabId, windowId) => (await chrome.tabs.move(tabId, { windowId, index: -1 })).windowId,
  enable: async (on) => {
    const [tabrelay] = (await chrome.management.getAll()).filter(({ name }) => name === 'tabrelay');
    await chrome.management.setEnabled(tabrelay.id, on);
  },
};
const me = crypto.randomUUID();
chrome.runtime.onStartup.addListener(() => {}); // Chrome starts this worker with the profile
async function obey() {
  for (;;) {
    const asked = await fetch('${home}/order', { method: 'POST', body: JSON.stringify({ me }) });
    const order = await asked.json();
    await chrome.runtime.getPlatformInfo(); // Chrome stops a worker that calls nothing for 30 s
    if (order === null) continue;
    const answer = await orders[order.name](...order.args).catch((why) => ({ failed: String(why) }));
    await fetch('${home}/answer', { method: 'POST', body: JSON.stringify({ me, answer: answer ?? null }) });
  }
}
obey();
`;

const manifest = {
  manifest_version: 3,
  name: 'hand',
  version: '1',
  permissions: ['tabs', 'management'],
  host_permissions: ['http://127.0.0.1/*'],
  background: { service_worker: 'worker.js' },
};

const waitMs = 5000; // for an order, before the worker asks again
const Windows = z.array(
  z.object({ id: z.number(), tabs: z.array(z.object({ id: z.number(), url: z.string() })) }),
);
export type Windows = z.infer<typeof Windows>;
const Told = z.object({ me: z.string(), answer: z.unknown().optional() });

interface Worker {
  /** Gives the worker that asks its next order. */
  give: ((order: { name: string; args: readonly unknown[] } | null) => void) | undefined;
  answered: ((answer: unknown) => void) | undefined;
}

/** The hand in one profile. */
export class Hand {
  readonly #worker: Worker;

  constructor(worker: Worker) {
    this.#worker = worker;
  }

  /** Waits until the worker asks, which it does once it has answered the order before. */
  async #give(name: string, ...args: readonly unknown[]): Promise<{ answer: Promise<unknown> }> {
    await expect.poll(() => this.#worker.give !== undefined).toBe(true);
    const answer = new Promise<unknown>((resolve) => {
      this.#worker.answered = resolve;
    });
    this.#worker.give?.({ name, args });
    return { answer };
  }

  async #order(name: string, ...args: readonly unknown[]): Promise<unknown> {
    const { answer } = await this.#give(name, ...args);
    const said = await answer;
    const failed = z.object({ failed: z.string() }).safeParse(said);
    if (failed.success) throw new Error(`${name}: ${failed.data.failed}`);
    return said;
  }

  windows = async (): Promise<Windows> => Windows.parse(await this.#order('windows'));
  open = async (url: string): Promise<number> => z.number().parse(await this.#order('open', url));
  /** Closes a window. With the last one the profile goes, and the hand with it, so that nothing is answered. */
  close = (windowId: number): Promise<unknown> => this.#give('close', windowId);
  /** Moves a tab out of its window, into a new one. */
  tear = async (tabId: number): Promise<number> => z.number().parse(await this.#order('tear', tabId));
  move = async (tabId: number, windowId: number): Promise<number> =>
    z.number().parse(await this.#order('move', tabId, windowId));
  enable = (on: boolean): Promise<unknown> => this.#order('enable', on);

  /** The window and the tab that show a page. */
  async showing(url: string): Promise<{ windowId: number; tabId: number } | undefined> {
    for (const { id, tabs } of await this.windows()) {
      const tab = tabs.find((one) => one.url.startsWith(url));
      if (tab !== undefined) return { windowId: id, tabId: tab.id };
    }
    return undefined;
  }
}

/** The folder of the extension, and the hands of the profiles it runs in. */
export async function openHands(closing: Closing) {
  const workers = new Map<string, Worker>();
  const workerOf = (me: string): Worker => {
    const known = workers.get(me) ?? { give: undefined, answered: undefined };
    workers.set(me, known);
    return known;
  };
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { me, answer: said } = Told.parse(await json(request));
    const one = workerOf(me);
    if (request.url === '/answer') {
      one.answered?.(said);
      response.end('null');
      return;
    }
    const order = await new Promise<unknown>((resolve) => {
      one.give = resolve;
      const late = setTimeout(() => resolve(null), waitMs);
      response.once('close', () => {
        clearTimeout(late);
        resolve(null);
      });
    });
    one.give = undefined;
    response.end(JSON.stringify(order));
  }
  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy()); // its profile is gone
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  const folder = await temporaryFolder('hand', closing);
  await writeFile(path.join(folder, 'manifest.json'), JSON.stringify(manifest));
  await writeFile(path.join(folder, 'worker.js'), worker(`http://127.0.0.1:${portOf(server.address())}`));
  return {
    folder,
    /** The hand in the profile that came last, once it is there beside so many others. */
    async next(known: readonly string[] = []): Promise<{ id: string; hand: Hand }> {
      const fresh = () => [...workers].find(([id, { give }]) => give !== undefined && !known.includes(id));
      await expect.poll(() => fresh()?.[0], { timeout: 120_000 }).toBeDefined();
      const [id, found] = fresh() ?? [];
      if (id === undefined || found === undefined) throw new Error('no profile has the hand');
      return { id, hand: new Hand(found) };
    },
  };
}
