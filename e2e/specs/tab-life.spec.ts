// What Chrome does to tabs in a day: pages go into the back/forward cache and come out of it, are frozen, put to sleep,
// loaded before anybody sees them, moved to other windows. No tab needs a reload by the person afterwards.
import type { Page } from '@playwright/test';
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
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
