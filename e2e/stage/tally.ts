// Relay, browser and the tally site: the stage of the proofs that count.

import type { BrowserContext, Page } from '@playwright/test';
import { openTallySite, type TallySite } from '../sites/tally.ts';
import { openBrowser } from './browser.ts';
import { Closing } from './closing.ts';
import { testPlugin } from './plugin.ts';
import { openRelay, type Relay } from './relay.ts';
import stageTest, { expect } from './test.ts';

export interface TallyStage {
  closing: Closing;
  relay: Relay;
  site: TallySite;
  browser: BrowserContext;
  page: Page;
}

export interface TallyOptions {
  config?: Record<string, unknown>;
  /** Called after the relay runs and before the browser starts. */
  beforeBrowser?: (relay: Relay) => Promise<void>;
}

export async function openTally(closing: Closing, options: TallyOptions = {}): Promise<TallyStage> {
  const site = await openTallySite(closing);
  const relay = await openRelay(closing, { demo: { listen: '' }, ...options.config });
  await relay.tabrelay('plugin', 'add', await testPlugin('tally', site.url, closing));
  await options.beforeBrowser?.(relay);
  const browser = await openBrowser(relay, closing);
  const page = browser.pages()[0] ?? (await browser.newPage());
  await page.goto(site.url);
  await expect.poll(() => relay.tabs(), { message: 'the extension connects' }).toContain(`${site.url}/`);
  return { closing, relay, site, browser, page };
}

/** Tests that share one tally stage, and leave it as they found it. */
export const test = stageTest.extend<object, { tally: TallyStage }>({
  tally: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of a fixture's dependencies from it.
    async ({}, use) => {
      const closing = new Closing();
      await use(await openTally(closing));
      await closing.close();
    },
    { scope: 'worker' },
  ],
});
