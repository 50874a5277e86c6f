// The stage every test plays on: relay, browser with the extension, demo site, agent.

import base, { type BrowserContext, expect, type Page } from '@playwright/test';
import { DemoSite } from '../sites/demo.ts';
import { type Agent, stdioAgent } from './agent.ts';
import { openBrowser } from './browser.ts';
import { Closing } from './closing.ts';
import { addTrouble } from './plugin.ts';
import { freePort } from './port.ts';
import { openRelay, type Relay, type RelayOptions, soon } from './relay.ts';

export interface Stage {
  closing: Closing;
  relay: Relay;
  browser: BrowserContext;
  demo: DemoSite;
  /** The demo site's home page, in front. */
  page: Page;
  /** Speaks MCP over stdio. */
  agent: Agent;
}

export interface StageOptions extends RelayOptions {
  /** Address of the demo site; a free one if left out. */
  demo?: string;
  /** The test plugin whose calls take long, fail or misbehave is there. */
  trouble?: boolean;
  /** What a person configured for plugins, by plugin name. */
  plugins?: Record<string, unknown>;
  config?: Record<string, unknown>;
  /** Flags of Chromium. */
  browserFlags?: readonly string[];
  /** Called after the relay runs and before the browser starts. */
  beforeBrowser?: (relay: Relay) => Promise<void>;
}

export async function openStage(closing: Closing, options: StageOptions = {}): Promise<Stage> {
  const { relay, browser, demo } = await openGround(closing, options);
  const page = browser.pages()[0] ?? (await browser.newPage());
  await page.goto(demo.url);
  await expect
    .poll(() => relay.tabs(), { message: 'the extension connects', ...soon })
    .toContain(`${demo.url}/`);
  const agent = await stdioAgent(relay, closing);
  return { closing, relay, browser, demo, page, agent };
}

async function openGround(closing: Closing, options: StageOptions = {}): Promise<Ground> {
  const demo = new DemoSite(options.demo ?? `http://127.0.0.1:${await freePort()}`);
  const config = {
    demo: { listen: new URL(demo.url).host },
    plugins: options.plugins ?? {},
    ...options.config,
  };
  const relay = await openRelay(closing, config, options);
  const { guarded = false, trouble = !guarded } = options;
  if (trouble) await addTrouble(relay, demo.url, closing, guarded);
  await options.beforeBrowser?.(relay);
  const browser = await openBrowser(relay, closing, undefined, options.browserFlags);
  return { relay, browser, demo };
}

interface TestFixtures {
  closing: Closing;
  /** A relay and a browser of the test's own. */
  stage: Stage;
  /** The worker's relay and browser, with one tab and an agent of the test's own: for tests that change neither. */
  sharedStage: Stage;
  /** The worker's relay and browser, with a tab and an agent that stay as well: for tests that are about what one
   * document shows and does. The references of its elements go on from those of the documents before. */
  keptStage: Stage;
}

interface WorkerFixtures {
  kept: Kept;
  /** What the shared stage of a file has that others have not: `test.use({ groundOptions: … })`. */
  groundOptions: StageOptions;
  ground: Ground;
}

/** What the tests of one Playwright worker share. */
type Ground = Pick<Stage, 'relay' | 'browser' | 'demo'>;

/** What stays from one test to the next. After a failure Playwright starts a new worker, with a new one. */
interface Kept {
  closing: Closing;
  page?: Page;
  agent?: Agent;
}

/** Makes a tab the only one of a browser, and returns it; without one that is open, a new one. */
async function onlyTab(browser: BrowserContext, kept?: Page): Promise<Page> {
  const isOpen = kept !== undefined && !kept.isClosed();
  const page = isOpen ? kept : await browser.newPage(); // before the others close: Chromium ends with its last tab
  for (const other of browser.pages()) if (other !== page) await other.close();
  return page;
}

export const test = base.extend<TestFixtures, WorkerFixtures>({
  // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of a fixture's dependencies from it.
  closing: async ({}, use) => {
    const closing = new Closing();
    await use(closing);
    await closing.close();
  },
  stage: async ({ closing }, use, info) => {
    const stage = await openStage(closing);
    await use(stage);
    if (info.status !== info.expectedStatus) await info.attach('relay.log', { body: stage.relay.log() });
  },
  groundOptions: [{}, { option: true, scope: 'worker' }],
  ground: [
    async ({ groundOptions }, use) => {
      const closing = new Closing();
      await use(await openGround(closing, groundOptions));
      await closing.close();
    },
    { scope: 'worker' },
  ],
  sharedStage: async ({ ground, closing }, use, info) => {
    const { relay, browser, demo } = ground;
    const page = await onlyTab(browser);
    await page.goto(demo.url);
    await expect
      .poll(() => relay.tabs(), { message: 'only this tab is left', ...soon })
      .toEqual([`${demo.url}/`]);
    const agent = await stdioAgent(relay, closing);
    await use({ closing, relay, browser, demo, page, agent });
    if (info.status !== info.expectedStatus) await info.attach('relay.log', { body: relay.log() });
  },
  kept: [
    async ({ ground: _ }, use) => {
      const closing = new Closing();
      await use({ closing });
      await closing.close();
    },
    { scope: 'worker' },
  ],
  keptStage: async ({ ground, kept, closing }, use, info) => {
    const { relay, browser, demo } = ground;
    const page = await onlyTab(browser, kept.page);
    const agent = kept.agent ?? (await stdioAgent(relay, kept.closing));
    Object.assign(kept, { page, agent });
    await use({ closing, relay, browser, demo, page, agent });
    if (info.status === info.expectedStatus) return;
    await info.attach('relay.log', { body: relay.log() });
  },
});

export default test;

export { expect };

/** Opens a page, and waits until the relay knows that it is open: only then can a call be routed to it. */
export async function visit({ page, relay }: Stage, url: string): Promise<void> {
  await page.goto(url);
  await expect
    .poll(() => relay.tabs(), { message: 'the relay learns where the tab is', ...soon })
    .toContain(page.url());
}
