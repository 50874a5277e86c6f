// Two agents in two accounts of one site: profiles keep their cookies apart, and private windows are out of reach.

import { openSite } from '../sites/own-pages.ts';
import { stdioAgent } from '../stage/agent.ts';
import { openBrowser } from '../stage/browser.ts';
import { workerOf } from '../stage/notifications.ts';
import { expect, test, visit } from '../stage/test.ts';

const shop = `<title>Shop</title><h1></h1><script>
  document.querySelector('h1').textContent = 'Signed in as ' + (document.cookie.split('who=')[1] ?? 'nobody');
</script>`;

test('two profiles are two accounts: each agent stays in its own', async ({ stage, closing }) => {
  const { relay, agent: ann, browser, page } = stage;
  const site = await openSite(closing, { '': shop });
  const second = await openBrowser(relay, closing);
  await expect.poll(() => relay.browsers()).toBe(2);
  const bob = await stdioAgent(relay, closing);
  const there = await second.newPage();
  await there.goto(`${site}/`);
  await visit(stage, `${site}/`);
  for (const [one, who] of [
    [page, 'Ada'],
    [there, 'Bea'],
  ] as const) {
    await one.evaluate((name) => {
      // biome-ignore lint/suspicious/noDocumentCookie: as a site's own script signs somebody in
      document.cookie = `who=${name}`;
    }, who);
    await one.reload();
  }

  const idOf = async (context: typeof browser) =>
    (await workerOf(context)).evaluate(
      async () => (await chrome.storage.local.get<{ profile: { id: string } }>('profile')).profile.id,
    );
  const [ofAda, ofBea] = [await idOf(browser), await idOf(second)];
  expect(ofAda).not.toBe(ofBea);
  const opened = async (agent: typeof ann, profile: string) => {
    const answer = await agent.call('browser__open_tab', { url: `${site}/`, profile });
    expect(answer.failed, answer.text).toBe(false);
  };
  await opened(ann, ofAda);
  await opened(bob, ofBea);
  for (let round = 0; round < 2; round++) {
    for (const [agent, who] of [
      [ann, 'Ada'],
      [bob, 'Bea'],
    ] as const) {
      const shown = await agent.call('browser__wait', { text: `Signed in as ${who}`, timeoutMs: 5000 });
      expect(shown.failed, shown.texts.join()).toBe(false);
    }
  }
  await second.close();
  await expect.poll(() => relay.browsers()).toBe(1);
  const lost = await bob.call('browser__snapshot'); // never sent to another account in its place
  expect(lost.failed).toBe(true);
  expect(lost.texts.join()).not.toContain('Ada');
});

test('a private window is out of reach of agents', async ({ stage, closing }) => {
  const { relay, browser } = stage;
  const site = await openSite(closing, { '': shop });
  const worker = await workerOf(browser);
  expect(await worker.evaluate(() => chrome.extension.isAllowedIncognitoAccess())).toBe(false);
  const before = await relay.tabs();
  // Chrome opens the window, and says nothing of it to an extension that is not allowed there.
  const told = await worker.evaluate(async (url) => {
    const made = await chrome.windows.create({ url, incognito: true });
    const tabs = await chrome.tabs.query({});
    return made || tabs.some((tab) => tab.incognito);
  }, `${site}/`);
  expect(told).toBe(false);
  expect(await relay.tabs()).toEqual(before);
});
