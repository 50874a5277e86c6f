// Documents of a plugin's own site that another document could prepare before the plugin came, each way there is: no
// secret reaches them, and what they answer is marked. And those that only look so.

import type { Page } from '@playwright/test';
import { z } from 'zod';
import { openPreparedSite } from '../sites/prepared.ts';
import { stopWorker } from '../stage/browser.ts';
import { Closing } from '../stage/closing.ts';
import { mainWorldPlugin, testPlugin } from '../stage/plugin.ts';
import stageTest, { expect, openStage, type Stage, visit } from '../stage/test.ts';

const token = 'a-token-nobody-else-reads';

interface PreparedStage extends Stage {
  site: string;
}

const test = stageTest.extend<object, { prepared: PreparedStage }>({
  prepared: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of a fixture's dependencies from it.
    async ({}, use) => {
      const closing = new Closing();
      const site = await openPreparedSite(closing);
      const plugins = { keeper: { settings: { token } } };
      const stage = await openStage(closing, { plugins });
      await stage.relay.tabrelay('plugin', 'add', await testPlugin('keeper', site, closing));
      await stage.relay.tabrelay('plugin', 'add', await mainWorldPlugin(site, closing));
      const { page, agent } = stage;
      await visit(stage, `${site}/start`);
      const trust = async () => {
        await page.reload();
        return (await agent.call('main-world__read_title')).meta['tabrelay/call'];
      };
      await expect.poll(trust).not.toHaveProperty('trust'); // Chrome has the plugins' scripts
      await use({ ...stage, site });
      await closing.close();
    },
    { scope: 'worker' },
  ],
});

/** Opens what a page opens, and waits until it is there. */
async function opened(page: Page, open: () => Promise<unknown>): Promise<Page> {
  const [target] = await Promise.all([page.context().waitForEvent('page'), open()]);
  return target;
}

type Way = (page: Page, stage: PreparedStage) => Promise<Page>;
declare const prepare: (w: unknown) => void;
declare const ambush: (w: unknown, path: string) => void;
declare const ambushFrom: (other: unknown, w: unknown, path: string) => void;

const preparing: Record<string, Way> = {
  'a window that a page opens': (page) =>
    opened(page, () => page.evaluate(() => prepare(window.open('/page')))),

  'one whose opener is cleared': (page) =>
    opened(page, () =>
      page.evaluate(() => {
        const w = window.open('/page');
        prepare(w);
        if (w !== null) w.opener = null;
      }),
    ),

  'one whose opener is gone': async (page) => {
    const first = await opened(page, () => page.evaluate(() => void window.open('/start')));
    await first.waitForLoadState();
    return opened(page, () =>
      first
        .evaluate(() => {
          const w = window.open('/page');
          prepare(w);
          if (w !== null) w.opener = null;
          window.close();
        })
        .catch(() => {}),
    );
  },

  'a window of its own size': (page) =>
    opened(page, () => page.evaluate(() => prepare(window.open('/page', '', 'width=300,height=300')))),

  'one with a name, opened empty': async (page) => {
    const target = await opened(page, () =>
      page.evaluate(() => {
        ambush(window.open('', 'named'), '/slow/named');
        window.open('/slow/named', 'named');
      }),
    );
    await target.waitForURL('**/slow/named');
    return target;
  },

  'a later page of a tab that a link with rel=opener opened': async (page) => {
    const target = await opened(page, () => page.click('#opener'));
    await target.waitForFunction(() => document.readyState === 'complete'); // also where nothing loads anew
    await target.evaluate(() => {
      Reflect.set(window.opener, 'child', window);
    });
    await page.evaluate(() => ambush(Reflect.get(globalThis, 'child'), '/slow/later'));
    await target.goto(target.url().replace('/page', '/slow/later'));
    return target;
  },

  'a page that is opened again while its opener waits': async (page) => {
    const target = await opened(page, () =>
      page.evaluate(() => void Reflect.set(globalThis, 'child', window.open('/slow/again'))),
    );
    await page.evaluate(() => fetch('/release'));
    await target.waitForFunction(() => document.readyState === 'complete'); // also where nothing loads anew
    await page.evaluate(() => {
      const child = Reflect.get(globalThis, 'child');
      child.location.href = '/slow/reloaded';
      ambush(child, '/slow/reloaded');
    });
    await target.waitForURL('**/slow/reloaded');
    await target.waitForFunction(() => document.readyState === 'complete'); // also where nothing loads anew
    return target;
  },

  'the opener itself, ambushed by what it opened': async (page) => {
    const helper = await opened(page, () => page.evaluate(() => void window.open('/start')));
    await helper.waitForLoadState();
    await helper.evaluate(() => {
      ambush(window.opener, '/slow/opener');
      window.opener.location = '/slow/opener';
    });
    await page.waitForURL('**/slow/opener');
    await page.waitForLoadState();
    return page;
  },

  'the opener, ambushed from a window that never loads': async (page) => {
    await page.evaluate(() => {
      ambushFrom(window.open('/never'), window, '/slow/empty');
      location.href = '/slow/empty';
    });
    await page.waitForURL('**/slow/empty');
    await page.waitForLoadState();
    return page;
  },

  'a page with a picture-in-picture window': async (page) => {
    await page.bringToFront();
    await page.evaluate(() => {
      document.onclick = async () => {
        const pip: unknown = Reflect.get(globalThis, 'documentPictureInPicture');
        if (typeof pip !== 'object' || pip === null) return;
        const request: unknown = Reflect.get(pip, 'requestWindow');
        if (typeof request !== 'function') return;
        ambushFrom(await request.call(pip), window, '/slow/picture');
        location.href = '/slow/picture';
      };
    });
    await page.mouse.click(5, 5);
    await page.waitForURL('**/slow/picture');
    await page.waitForLoadState();
    return page;
  },

  'a document whose worker was stopped before it was asked': async (page, { browser }) => {
    const target = await opened(page, () =>
      page.evaluate(() => {
        const w = window.open('/page');
        prepare(w);
        if (w !== null) w.opener = null;
      }),
    );
    await target.waitForFunction(() => document.readyState === 'complete'); // also where nothing loads anew
    await stopWorker(browser);
    return target;
  },
};

const harmless: Record<string, Way> = {
  'a page that the person goes to': async (page) => page,

  'a window without an opener': (page) =>
    opened(page, () => page.evaluate(() => void window.open('/page', '', 'noopener'))),

  'a link with target=_blank': (page) => opened(page, () => page.click('#blank')),

  'a link clicked with Ctrl': (page) => opened(page, () => page.click('#plain', { modifiers: ['Control'] })),

  'a link clicked with Shift': (page) => opened(page, () => page.click('#plain', { modifiers: ['Shift'] })),

  'a page that leaves its opener': (page) =>
    opened(page, () => page.evaluate(() => prepare(window.open('/coop')))),

  'a page after the windows it opened are closed': async (page) => {
    const popup = await opened(page, () => page.evaluate(() => void window.open('/start')));
    await popup.waitForLoadState();
    await popup.close();
    await page.reload();
    return page;
  },

  'a page that somebody goes back to': async (page) => {
    await page.goto(page.url().replace('/start', '/page'));
    await page.goBack({ waitUntil: 'commit' }); // from the back/forward cache it does not load again
    return page;
  },

  'a document that the page writes anew': async (page) => {
    await page.evaluate(() => {
      document.open();
      document.write('<!doctype html><title>Written</title><p>anew');
      document.close();
    });
    return page;
  },

  'a page whose worker is another one by now': async (page, { browser }) => {
    await stopWorker(browser);
    await page.reload();
    return page;
  },

  'a tab that was opened for the agent': async (page, { agent, site }) => {
    const target = page.context().waitForEvent('page');
    await agent.call('browser__open_tab', { url: `${site}/page` });
    return target;
  },
};

const Tabs = z.object({ tabs: z.array(z.object({ tabId: z.number(), url: z.string() })) });

/** The tab of a page. Each has an address of its own. */
async function tabOf({ agent }: Stage, page: Page): Promise<number> {
  const mark = `#${Math.random().toString(36).slice(2)}`;
  await page.evaluate((hash) => history.replaceState({}, '', hash), mark);
  let tab: number | undefined;
  await expect(async () => {
    const { tabs } = Tabs.parse((await agent.call('browser__list_tabs')).value);
    tab = tabs.find(({ url }) => url.endsWith(mark))?.tabId;
    expect(tab).toBeDefined();
  }).toPass();
  return tab ?? 0;
}

const stolen = (page: Page) => page.evaluate(() => Reflect.get(globalThis, 'stolen') ?? null);

async function play(stage: PreparedStage, way: Way, late: boolean): Promise<void> {
  const { agent, browser, site } = stage;
  const page = await browser.newPage();
  await page.goto(`${site}/start`);
  const target = await way(page, stage);
  await target.waitForFunction(() => document.readyState === 'complete'); // also where nothing loads anew
  const tabId = await tabOf(stage, target);
  const kept = await agent.call('keeper__use_token', { tabId });
  const read = await agent.call('main-world__read_title', { tabId });
  if (late) {
    expect(await stolen(target)).not.toBeNull(); // the trap was there, and worked
    expect(kept.failed).toBe(true);
    expect(kept.text).toContain('ADAPTER_NOT_READY');
    expect(kept.text).toContain('browser__open_tab');
    expect(read.meta['tabrelay/call']).toMatchObject({ trust: 'late' });
  } else {
    expect(await stolen(target)).toBeNull();
    expect(kept.value).toEqual({ characters: token.length });
    expect(read.meta['tabrelay/call']).not.toHaveProperty('trust');
    expect(read.value).not.toHaveProperty('forged');
  }
  expect(JSON.stringify(await stolen(target))).not.toContain(token);
  for (const one of browser.pages()) if (one !== stage.page) await one.close();
}

for (const [name, way] of Object.entries(preparing))
  test(`prepared: ${name}`, ({ prepared }) => play(prepared, way, true));

for (const [name, way] of Object.entries(harmless))
  test(`not prepared: ${name}`, ({ prepared }) => play(prepared, way, false));
