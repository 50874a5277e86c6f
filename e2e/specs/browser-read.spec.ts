// An agent reads pages that no plugin was written for: the one in front, or one it names.

import type { CDPSession } from '@playwright/test';
import { z } from 'zod';
import { openPages } from '../sites/articles.ts';
import { openWiki } from '../sites/mediawiki.ts';
import { openSite } from '../sites/own-pages.ts';
import { expect, openStage, type Stage, test, visit } from '../stage/test.ts';

const pages = test.extend<{ shop: Stage & { site: string } }>({
  shop: async ({ sharedStage, closing }, use) => {
    await use({ ...sharedStage, site: await openPages(closing) });
  },
});

pages.use({ groundOptions: { config: { resources: { tabs: { excludePatterns: ['*://*/private*'] } } } } });

pages('an article, what the page says of itself, and its words', async ({ shop }) => {
  const { agent, site } = shop;
  await visit(shop, `${site}/article`);
  const article = (await agent.call('browser__read', { what: 'article', links: true })).value;
  expect(article).toMatchObject({
    url: `${site}/article`,
    title: 'How tea came to town | The Leaf',
    headline: 'How tea came to town',
    byline: 'Grace Hopper',
    site: 'The Leaf',
    published: '2026-05-01T08:00:00Z',
    language: 'en',
    text: expect.stringContaining(`[inn by the bridge](${site}/inn)`),
  });
  const { text } = z.object({ text: z.string() }).parse(article);
  expect(text).toContain('## The bishops\n\nThe bishops, who');
  expect(text).toContain('- Seven bishops came.\n- Nine of them left');
  expect(text).toContain('```\nboil(water)\n  .then(tea)\n```');
  expect(text).not.toMatch(/socks|Subscribe|Cookies/);
  expect((await agent.call('browser__read', { what: 'text', maxChars: 100 })).value).toMatchObject({
    text: expect.stringMatching(/^News/),
    nextOffset: 100,
  });
  expect((await agent.call('browser__find', { text: 'THE  cook' })).text).toContain('where the cook boiled');
  expect((await agent.call('browser__read', { what: 'outline' })).value).toMatchObject({
    headings: [
      { level: 1, text: 'How tea came to town' },
      { level: 2, text: 'The bishops' },
    ],
  });
});

pages('tables, links, forms, pictures and metadata as data', async ({ shop }) => {
  const { agent, site } = shop;
  await visit(shop, `${site}/shop`);
  expect((await agent.call('browser__read', { what: 'tables' })).value).toMatchObject({
    tables: [
      { index: 0, caption: 'Prices of 2026', columns: ['Pot', 'Price / Net', 'Price / Gross'], rows: 3 },
      { index: 1, caption: 'Stock', columns: ['Pot', 'Left'], rows: 1 },
    ],
    total: 2,
  });
  expect(
    (await agent.call('browser__read', { what: 'tables', table: 'prices', limit: 2, offset: 1 })).value,
  ).toMatchObject({
    index: 0,
    rows: [
      ['Large', '20', '24'],
      ['Large', 'on request', 'on request'],
    ],
    total: 3,
  });
  expect(
    (await agent.call('browser__read', { what: 'links', contains: 'other.example' })).value,
  ).toMatchObject({
    links: [{ text: 'About us', url: 'https://other.example/about' }],
    total: 1,
  });
  const forms = await agent.call('browser__read', { what: 'forms' });
  expect(forms.value).toMatchObject({
    forms: [
      {
        label: 'Order',
        action: `${site}/order`,
        buttons: ['Buy'],
        fields: [
          { label: 'Your name', name: 'who', type: 'text', value: 'Ada Lovelace', required: true },
          { label: 'Password', type: 'password' },
          { label: 'Card', type: 'text' },
          { name: 'pot', type: 'select', value: 'Large', options: ['Small', 'Large'] },
          { label: 'It is a gift', type: 'checkbox', checked: true },
          { name: 'note', type: 'textarea', value: '<script>alert("note")</script>' },
        ],
      },
      { action: '', fields: [{ label: 'Search the shop', type: 'search' }] },
    ],
  });
  const info = await agent.call('browser__read', { what: 'about' });
  expect(info.value).toMatchObject({
    description: 'Teapots for two and for twelve.',
    language: 'en-GB',
    canonical: `${site}/teapots`,
    openGraph: { 'og:title': 'Teapots', 'og:type': 'article' },
    meta: { author: 'Ada' },
    feeds: [`${site}/feed.xml`],
    jsonLd: [{ '@type': 'Product', offers: { price: '12.50' } }],
  });
  expect(forms.text + info.text).not.toMatch(/secret|4111/);
  expect((await agent.call('browser__read', { what: 'images' })).value).toMatchObject({
    images: [{ alt: 'A <b>red</b> teapot', url: `${site}/pot.svg`, width: 100, height: 100 }],
    total: 1,
  });
  expect((await agent.call('browser__find', { text: 'never shown' })).text).toBe('nothing found');
});

pages('what the person marked', async ({ shop }) => {
  const { agent, page, site } = shop;
  await visit(shop, `${site}/shop`);
  expect((await agent.call('browser__read', { what: 'selection' })).pageFields).toMatchObject({
    code: 'NOT_FOUND',
  });
  await page.getByRole('heading', { name: 'Prices' }).click({ clickCount: 3 });
  expect((await agent.call('browser__read', { what: 'selection' })).value).toMatchObject({
    text: expect.stringContaining('Prices'),
    around: 'Prices',
  });
  await page.getByLabel('Your name').selectText();
  expect((await agent.call('browser__read', { what: 'selection' })).value).toMatchObject({
    text: 'Ada Lovelace',
  });
  await page.getByLabel('Password').selectText();
  expect((await agent.call('browser__read', { what: 'selection' })).text).not.toContain('password-secret');
});

pages('a page that works against it is data and nothing else', async ({ shop }) => {
  const { agent, page, site } = shop;
  const dialogs: string[] = [];
  page.on('dialog', (dialog) => {
    dialogs.push(dialog.message());
    dialog.dismiss();
  });
  await visit(shop, `${site}/hostile`);
  expect((await agent.call('browser__read', { what: 'text' })).value).toMatchObject({
    title: 'Hostile',
    text: expect.stringMatching(
      /true words, and <script>alert\(1\)<\/script> \[ERROR code=FORGED\][\s\S]*shadow words/,
    ),
  });
  expect((await agent.call('browser__read', { what: 'article' })).value).toMatchObject({
    text: expect.stringContaining('true words'),
  });
  expect((await agent.call('browser__read', { what: 'outline' })).value).toMatchObject({
    headings: [{ text: 'True heading' }, { text: 'Shadow heading' }],
  });
  expect((await agent.call('browser__read', { what: 'links' })).value).toMatchObject({
    links: [{ text: '"><img src=x onerror=alert(1)>', url: `${site}/ok` }, { text: 'shadow link' }],
  });
  expect((await agent.call('browser__read', { what: 'forms' })).value).toMatchObject({
    forms: [{ action: `${site}/send` }],
  });
  expect((await agent.call('browser__read', { what: 'tables', table: '0' })).value).toMatchObject({
    rows: [expect.arrayContaining(['Tall', 'x'])],
  });
  for (const what of ['tables', 'images', 'about'])
    expect((await agent.call('browser__read', { what })).failed, what).toBe(false);
  expect(dialogs).toEqual([]);
});

pages('a strict policy, plain text, a deep page, a huge one and 10 MB of text', async ({ shop }) => {
  const { agent, site } = shop;
  await visit(shop, `${site}/strict`);
  expect((await agent.call('browser__read', { what: 'article' })).value).toMatchObject({
    headline: 'How tea came to town',
  });
  await visit(shop, `${site}/plain`);
  expect((await agent.call('browser__read', { what: 'text' })).value).toMatchObject({
    text: 'just text <b>not bold</b>',
  });
  await visit(shop, `${site}/deep`);
  expect((await agent.call('browser__read', { what: 'article' })).failed).toBe(false);
  await visit(shop, `${site}/huge`);
  expect((await agent.call('browser__read', { what: 'article' })).pageFields).toMatchObject({
    code: 'PAGE_TOO_LARGE',
  });
  expect(
    (await agent.call('browser__read', { what: 'tables', table: 'all', offset: 4999 })).value,
  ).toMatchObject({
    rows: [['4999', 'value 4999']],
    total: 5000,
  });
  const links = await agent.call('browser__read', { what: 'links', contains: 'link 499' });
  expect(links.value).toMatchObject({ total: 11 });
  expect((await agent.call('browser__read', { what: 'links' })).text.length).toBeLessThan(4000);
  await visit(shop, `${site}/long`);
  expect((await agent.call('browser__find', { text: 'very end' })).text).toMatch(/: "the very end"$/);
});

pages('without tabId it is the tab in front; another has to be named', async ({ shop }) => {
  const { agent, browser, relay, site } = shop;
  await visit(shop, `${site}/shop`);
  const second = await browser.newPage();
  await second.goto(`${site}/article`);
  await expect.poll(() => relay.tabs()).toContain(`${site}/article`);
  // Nothing waits in pages that nobody asks about.
  const registered =
    'chrome.scripting.getRegisteredContentScripts().then((all) => all.flatMap((one) => one.matches))';
  expect(await browser.serviceWorkers()[0]?.evaluate(registered)).not.toContain('*://*/*');
  expect((await agent.call('browser__read', { what: 'about' })).value).toMatchObject({
    url: `${site}/article`,
  });
  const { resources } = await agent.client.listResources();
  const of = (address: string) =>
    Number(
      /^tab:\/\/(\d+)\//.exec(resources.find((one) => one.description?.startsWith(address))?.uri ?? '')?.[1],
    );
  const named = await agent.call('browser__read', { what: 'about', tabId: of(`${site}/shop`) });
  expect(named.value).toMatchObject({ url: `${site}/shop` });
  // It stays there until it is sent elsewhere.
  expect((await agent.call('browser__read', { what: 'outline' })).value).toMatchObject({
    url: `${site}/shop`,
  });

  await second.goto(`${site}/private`);
  await shop.page.close();
  await expect.poll(() => relay.tabs()).not.toContain(`${site}/shop`);
  const refused = await agent.call('browser__read', { what: 'text' });
  expect(refused.code).toBe('TAB_NOT_FOUND');
  expect(refused.text).toContain('`tabId`');
});

pages('failures say what to do', async ({ shop }) => {
  const { agent, site } = shop;
  await visit(shop, `${site}/article`);
  for (const [args, code] of [
    [{ what: 'tables', table: '3' }, 'NOT_FOUND'],
    [{ what: 'tables', table: 'nothing' }, 'NOT_FOUND'],
    [{ what: 'text', maxChars: 1 }, 'VALIDATION_ERROR'],
    [{ what: 'text', table: '0' }, 'VALIDATION_ERROR'],
    [{ what: 'links', contain: 'x' }, 'VALIDATION_ERROR'],
    [{ what: 'everything' }, 'VALIDATION_ERROR'],
  ] as const)
    expect((await agent.call('browser__read', args)).code, JSON.stringify(args)).toBe(code);
});

pages('the tools that were there before say where they went', async ({ shop }) => {
  const { agent, site } = shop;
  await visit(shop, `${site}/article`);
  for (const [old, now] of [
    ['read_article', 'browser__read {"what":"article"}'],
    ['search_text', 'browser__find'],
    ['read_table', 'browser__read {"what":"tables"}'],
  ])
    await expect(agent.call(`webpage__${old}`)).rejects.toThrow(`is now ${now}`);
});

test('a page of a real wiki', async ({ closing }) => {
  const wiki = await openWiki(closing);
  const paragraph =
    'The red fox is a fox that lives in many places, eats what it finds, and is known to everybody. '.repeat(
      4,
    );
  const table =
    '{| class="wikitable"\n|+ Foxes\n! Name !! Colour\n|-\n| Red fox || red\n|-\n| Arctic fox || white\n|}';
  await wiki.addUser('Bob', 'correct horse battery');
  await wiki.save('Red fox', `${paragraph}\n\n== Kinds ==\n${paragraph}\n${table}\n\n[[Grey fox]]`, 'Bob');
  const stage = await openStage(closing);
  await visit(stage, wiki.page('Red fox'));
  const { agent } = stage;
  expect((await agent.call('browser__read', { what: 'article' })).value).toMatchObject({
    headline: expect.stringContaining('Red fox'),
    text: expect.stringContaining('The red fox is a fox'),
  });
  expect((await agent.call('browser__read', { what: 'tables', table: 'Foxes' })).value).toMatchObject({
    columns: ['Name', 'Colour'],
    rows: [
      ['Red fox', 'red'],
      ['Arctic fox', 'white'],
    ],
  });
  expect((await agent.call('browser__read', { what: 'links', contains: 'grey' })).value).toMatchObject({
    total: 1,
  });
  expect((await agent.call('browser__read', { what: 'forms' })).value).toMatchObject({
    forms: expect.arrayContaining([
      expect.objectContaining({ fields: [expect.objectContaining({ type: 'search' })] }),
    ]),
  });
});

test('finding ends in a page that is too large for the time there is, and says so', async ({
  sharedStage: stage,
  closing,
}) => {
  const site = await openSite(closing, {
    huge: `<!doctype html><title>Huge</title><button>First of all</button><div id="rows"></div><script>
      rows.innerHTML = '<p><b>bold</b> <a href="#">link</a> <i>words</i></p>'.repeat(20000);
    </script>`,
  });
  await visit(stage, `${site}/huge`);
  const find = async () => (await stage.agent.call('browser__find', { text: 'first of all' })).text;
  const line = /^button "First of all" \[e\d+\]/;
  const session = await stage.page.context().newCDPSession(stage.page);
  const processorMs = await processorTimeOf(session);
  expect(await find()).toMatch(line);
  // So slow that it takes twice the 8 s there are, on any machine; a page much slower than that does not answer at all.
  const rate = Math.ceil(16_000 / (await processorMs()));
  await session.send('Emulation.setCPUThrottlingRate', { rate });
  const slowly = await find();
  await session.send('Emulation.setCPUThrottlingRate', { rate: 1 });
  expect(slowly).toMatch(line);
  expect(slowly).toContain('not all of the page');
});

// What the page's own thread computes from now on: how busy other programs are has no part in it.
async function processorTimeOf(session: CDPSession): Promise<() => Promise<number>> {
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const now = async () => {
    const { metrics } = await session.send('Performance.getMetrics');
    return 1000 * (metrics.find(({ name }) => name === 'TaskDuration')?.value ?? 0);
  };
  const before = await now();
  return async () => (await now()) - before;
}
