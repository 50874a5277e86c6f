// What Chrome does to tabs in a day: pages go into the back/forward cache and come out of it, are frozen, put to sleep,
// loaded before anybody sees them, moved to other windows. No tab needs a reload by the person afterwards.
import type { BrowserContext, Page } from '@playwright/test';
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import { extensionId } from '../stage/browser.ts';
import { expect, type Stage, test, visit } from '../stage/test.ts';

/** The document kept what a script left in it: it was not loaded again. */
const keep = (page: Page) => page.evaluate(() => void Reflect.set(window, 'kept', true));
const isKept = (page: Page) => page.evaluate(() => Reflect.get(window, 'kept') === true);

/** Calls tools in the tab, a site's where the site has one; those that fail, with what they say. */
async function failing({ agent, page, demo }: Stage): Promise<string[]> {
  const told: string[] = [];
  const own = page.url().startsWith(demo.url) ? ['demo__hello'] : [];
  for (const name of [...own, 'browser__snapshot']) {
    const answer = await agent.call(name);
    if (answer.failed) told.push(`${name}: ${answer.text}`);
  }
  return told;
}

test('Back and Forward, within a site and to another one', async ({ sharedStage: stage, closing }) => {
  const { page, demo, agent } = stage;
  const there = await openSite(closing, {
    '': '<!doctype html><title>There</title><button onclick="alert(1)">Ask</button>',
  });
  const home = `${demo.url}/`;
  const second = `${demo.url}/?second`;
  const go = async (step: number, url: string) => {
    await page.evaluate((by) => history.go(by), step);
    await expect.poll(() => stage.relay.tabs()).toContain(url);
    await page.waitForFunction((there) => location.href === there, url); // the driver may learn of it later
    expect(await isKept(page), 'it comes out of the back/forward cache').toBe(true);
    expect(await failing(stage), url).toEqual([]);
  };
  for (const url of [home, second, `${there}/`]) {
    await visit(stage, url);
    await keep(page);
    expect(await failing(stage), url).toEqual([]);
  }
  for (let round = 0; round < 3; round++) {
    await go(-1, second);
    await go(-1, home);
    await go(2, `${there}/`);
  }
  const { dialogs } = await new Acting(agent).click('button "Ask"');
  expect(dialogs).toMatchObject([{ text: '1', answered: 'closed' }]);
});

test('an agent goes back and forward, and looks at once', async ({ sharedStage: stage, closing }) => {
  const { agent } = stage;
  const body = (title: string) => `<!doctype html><title>${title}</title><p>This is ${title}.`;
  const site = await openSite(closing, { one: body('One'), two: body('Two') });
  await visit(stage, `${site}/one`);
  await agent.call('browser__navigate', { to: `${site}/two` });
  for (let round = 0; round < 5; round++) {
    for (const [to, title] of [
      ['back', 'One'],
      ['forward', 'Two'],
    ] as const) {
      expect((await agent.call('browser__navigate', { to })).value).toMatchObject({ title });
      expect((await agent.call('browser__snapshot')).text).toContain(`"This is ${title}."`);
    }
  }
});

const workerOf = async (browser: BrowserContext) =>
  browser.serviceWorkers()[0] ?? (await browser.waitForEvent('serviceworker'));

test('a tab that is moved to another window goes on', async ({ stage }) => {
  const { page, browser } = stage;
  await browser.newPage(); // the window that it leaves stays
  await page.bringToFront();
  await keep(page);
  expect(await failing(stage)).toEqual([]);
  const move = async (url: string) => {
    const [tab] = await chrome.tabs.query({ url: `${url}/*` });
    if (tab?.id === undefined) throw new Error('there is no such tab');
    const { id } = (await chrome.windows.create({ tabId: tab.id })) ?? {};
    return id !== undefined && id !== tab.windowId;
  };
  expect(await (await workerOf(browser)).evaluate(move, stage.demo.url)).toBe(true);
  expect(await failing(stage)).toEqual([]);
  expect(await isKept(page)).toBe(true);
});

test('a tab that Chrome put to sleep to save memory is woken', async ({ stage }) => {
  const { browser, demo } = stage;
  expect(await failing(stage)).toEqual([]);
  await browser.newPage(); // Chrome puts no tab to sleep that is in front
  const sleep = async (url: string) => {
    const [tab] = await chrome.tabs.query({ url: `${url}/*` });
    return tab?.id === undefined ? undefined : (await chrome.tabs.discard(tab.id))?.discarded;
  };
  expect(await (await workerOf(browser)).evaluate(sleep, demo.url)).toBe(true);
  const known = () => stage.relay.asPerson('GET', '/api/v1/tabs');
  await expect.poll(known).toMatchObject({ tabs: [{ discarded: true }] });
  expect((await stage.agent.call('demo__hello')).failed).toBe(false);
  await expect.poll(known).toMatchObject({ tabs: [{ discarded: false }] });
  expect((await stage.agent.call('browser__snapshot')).text).toContain(`${demo.url}/`);
});

test('a frozen tab is called that, or answers, and goes on when it runs again', async ({ stage }) => {
  const { page, browser, agent } = stage;
  await keep(page);
  expect(await failing(stage)).toEqual([]);
  const session = await browser.newCDPSession(page);
  await session.send('Page.setWebLifecycleState', { state: 'frozen' });
  const frozen = await agent.call('demo__hello', {}, { timeoutMs: 5000 });
  if (frozen.failed) {
    expect(frozen.facts.outcome).toBe('not_executed');
    expect(frozen.text).toContain('frozen');
  }
  await session.send('Page.setWebLifecycleState', { state: 'active' });
  expect(await failing(stage)).toEqual([]);
  expect(await isKept(page)).toBe(true);
});

test('an extension that was switched off and on again serves the tabs that are open', async ({ stage }) => {
  const { page, browser, relay, agent } = stage;
  await keep(page);
  expect(await failing(stage)).toEqual([]);
  const id = await extensionId(browser);
  const settings = await browser.newPage();
  await settings.goto('chrome://extensions');
  const enable = (on: boolean) =>
    settings.evaluate(([of, to]) => chrome.management.setEnabled(of, to), [id, on] as const);
  await enable(false);
  await expect.poll(() => relay.tabs()).toEqual([]);
  const off = await agent.call('demo__hello', {}, { timeoutMs: 5000 });
  expect(off.facts.outcome).toBe('not_executed');
  await enable(true);
  await settings.close();
  await expect.poll(() => relay.tabs()).toContain(page.url());
  expect(await failing(stage)).toEqual([]);
  expect(await isKept(page)).toBe(true);
});
