// Where a call leads: an agent loads no page of a site that is off, and is told no more of any page than it may know.
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { z } from 'zod';
import { Acting } from '../stage/acting.ts';
import type { Closing } from '../stage/closing.ts';
import { portOf } from '../stage/port.ts';
import stageTest, { expect, type Stage, visit } from '../stage/test.ts';

const Tabs = z.object({
  tabs: z.array(z.object({ url: z.string(), title: z.string() })),
  hidden: z.number().optional(),
});

/** A site on an origin of its own, and what was asked of it. */
async function site(closing: Closing, answer: RequestListener) {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    if (request.url !== '/favicon.ico') asked.push(request.url ?? '');
    response.setHeader('content-type', 'text/html');
    answer(request, response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${portOf(server.address())}`, asked };
}

const serviceWorker = `
addEventListener('install', () => skipWaiting());
addEventListener('activate', (event) => event.waitUntil(clients.claim()));
addEventListener('fetch', (event) => {
  if (!event.request.url.endsWith('/offline')) return;
  const headers = { 'content-type': 'text/html' };
  event.respondWith(new Response('<title>Offline 4711</title><p>Secret words offline', { headers }));
  event.stopImmediatePropagation();
});
addEventListener('fetch', (event) => event.respondWith(fetch(event.request.url + '?by-the-service-worker')));`;

const links = (to: Record<string, string>) =>
  Object.entries(to)
    .map(([name, address]) => `<p><a href="${address}">${name}</a>`)
    .join('');

/** A forum, where everything may be done, with ways to a bank that is off and a shop that is asked about. */
async function openSites({ relay }: Stage, closing: Closing) {
  const bank = await site(closing, ({ url = '' }, response) => {
    if (url.startsWith('/on')) return response.writeHead(302, { location: `${forum.url}/end` }).end();
    if (url === '/worker.js') return response.setHeader('content-type', 'text/javascript').end(serviceWorker);
    if (url === '/enrol')
      return response.end(`<title>Balance</title><script>
navigator.serviceWorker.register('/worker.js').then(() => navigator.serviceWorker.ready)
  .then(() => { document.title = 'Ready'; });
</script>`);
    return response.end('<title>Balance 4711</title><p>Secret words of the bank');
  });
  const shop = await site(closing, (_, response) => response.end('<title>Shop</title><p>Words of the shop'));
  const forum = await site(closing, ({ url = '', headers }, response) => {
    if (/prerender/.test(String(headers['sec-purpose']))) forum.asked.push('prerendered');
    const away = new URL(url, 'http://forum').searchParams.get('away');
    if (away !== null) return response.writeHead(302, { location: away }).end();
    if (url === '/script')
      return response.end(`<title>Script</title><script>location = '${bank.url}/by-script'</script>`);
    if (url === '/meta')
      return response.end(
        `<title>Meta</title><meta http-equiv="refresh" content="0;url=${bank.url}/by-meta">`,
      );
    if (url === '/framing')
      return response.end(
        `<title>Framing</title><p>Words around<iframe title="Bank" src="${bank.url}/offline"></iframe>`,
      );
    if (url === '/ahead')
      return response.end(`<title>Ahead</title><p>Words before<script type="speculationrules">
${JSON.stringify({ prerender: [{ source: 'list', urls: ['/kept/thread'], eagerness: 'immediate' }] })}</script>`);
    if (url === '/kept/thread') return response.end('<title>Kept 4711</title><p>Secret words kept');
    return response.end(`<title>Forum</title><p>Words of the forum${links({
      'To the bank': `${bank.url}/private?token=1`,
      'To the shop': `${shop.url}/cart?token=1`,
      'To the forum': `${forum.url}/thread?page=2`,
      'By a redirect': `/go?away=${encodeURIComponent(`${bank.url}/private`)}`,
    })}<p><button onclick="window.open('${bank.url}/private?token=1')">Open the bank</button>
<button onclick="window.open('${shop.url}/cart?token=1')">Open the shop</button>
<button onclick="history.back()">Go back</button>`);
  });
  await relay.tabrelay('permit', 'set', bank.url, 'off');
  await relay.tabrelay('permit', 'set', shop.url, 'ask');
  return { bank, shop, forum };
}

type Sites = Awaited<ReturnType<typeof openSites>>;

/** One relay and one browser for all: what is said is about sites that each test has of its own. */
const test = stageTest.extend<{ border: Sites & { stage: Stage } }>({
  border: async ({ sharedStage: stage, closing }, use) =>
    use({ stage, ...(await openSites(stage, closing)) }),
});
test.use({
  groundOptions: {
    guarded: true,
    config: { permissions: { default: 'auto' }, resources: { tabs: { excludePatterns: ['*://*/kept/*'] } } },
  },
});

const openTabs = async ({ agent }: Stage) => Tabs.parse((await agent.call('browser__list_tabs')).value);

test('no address, redirect or script of a page takes a tab to a site that is off', async ({ border }) => {
  const { stage, bank, forum } = border;
  const { agent, browser } = stage;
  await visit(stage, `${forum.url}/`);
  const away = (to: string) => `${forum.url}/go?away=${encodeURIComponent(to)}`;
  const before = browser.pages().length;
  for (const [address, outcome] of [
    [`${bank.url}/pay`, 'not_executed'],
    [away(`${bank.url}/on`), 'executed'],
    [away(away(`${bank.url}/on`)), 'executed'],
    [`${forum.url}/script`, 'executed'],
    [`${forum.url}/meta`, 'executed'],
  ] as const) {
    const opened = await agent.call('browser__open_tab', { url: address });
    expect([opened.code, opened.facts.outcome], address).toEqual(['PERMISSION_DENIED', outcome]);
    expect(opened.text, address).toContain(bank.url);
    await expect.poll(() => browser.pages().length, { message: address }).toBe(before);
    await visit(stage, `${forum.url}/`);
    const gone = await agent.call('browser__navigate', { to: address });
    expect([gone.code, gone.facts.outcome], address).toEqual(['PERMISSION_DENIED', outcome]);
    expect(gone.text, address).toContain(bank.url);
  }
  expect(bank.asked).toEqual([]);
  // What is not off is reached as ever, and the person goes where they like.
  expect((await agent.call('browser__open_tab', { url: away(`${forum.url}/end`) })).value).toMatchObject({
    url: `${forum.url}/end`,
    title: 'Forum',
  });
  await stage.page.goto(`${bank.url}/by-the-person`);
  expect(bank.asked).toEqual(['/by-the-person']);
});

test('a service worker of a site that is off is not asked either', async ({ border }) => {
  const { stage, bank, forum } = border;
  await stage.page.goto(`${bank.url}/enrol`);
  await expect.poll(() => stage.page.title()).toBe('Ready');
  await visit(stage, `${forum.url}/`);
  const asked = bank.asked.length;
  const to = `${forum.url}/go?away=${encodeURIComponent(`${bank.url}/private`)}`;
  for (const [tool, args] of [
    ['browser__open_tab', { url: to }],
    ['browser__navigate', { to }],
  ] as const) {
    const ended = await stage.agent.call(tool, args);
    expect([ended.code, ended.text], tool).toEqual(['PERMISSION_DENIED', expect.stringContaining(bank.url)]);
  }
  expect(bank.asked.length).toBe(asked);
});

test('an act tells of the page it led to what the agent may know', async ({ border }) => {
  const { stage, bank, shop, forum } = border;
  const acting = new Acting(stage.agent);
  const click = async (name: string) => {
    await visit(stage, `${forum.url}/`);
    return stage.agent.call('browser__click', { ref: await acting.ref(name) });
  };
  for (const way of ['link "To the bank"', 'link "By a redirect"']) {
    const toBank = await click(way);
    expect(toBank.value, way).toMatchObject({ url: bank.url, note: expect.stringContaining('off') });
    for (const secret of ['4711', 'Secret', '/private', '"page"'])
      expect(toBank.text, way).not.toContain(secret);
  }
  const toShop = await click('link "To the shop"');
  expect(toShop.value).toMatchObject({ url: `${shop.url}/cart`, title: 'Shop' });
  expect(toShop.text).toContain('browser__snapshot');
  for (const secret of ['Words of the shop', 'token']) expect(toShop.text).not.toContain(secret);
  await stage.page.waitForURL(`${shop.url}/cart*`); // the test's driver may hear of it after the agent
  const toForum = await click('link "To the forum"');
  expect(toForum.value).toMatchObject({ url: `${forum.url}/thread?page=2`, title: 'Forum' });
  expect(toForum.text).toContain('Words of the forum');
  await stage.page.waitForURL(`${forum.url}/thread?page=2`);
  const opened = await click('button "Open the bank"');
  expect(opened.value).toMatchObject({ opened: [{ url: bank.url }] });
  expect(opened.text).not.toContain('/private');
  const alsoOpened = await click('button "Open the shop"');
  expect(alsoOpened.value).toMatchObject({ opened: [{ url: `${shop.url}/cart` }] });
  // The tabs that are there now are told in the same way.
  const { tabs, hidden } = await openTabs(stage);
  expect(hidden).toBe(1);
  expect(tabs.some(({ url }) => url.startsWith(bank.url))).toBe(false);
  expect(tabs.some(({ url }) => url.startsWith(shop.url))).toBe(true);
});

test('the history of a tab leads to no site that is off', async ({ border }) => {
  const { stage, bank, shop, forum } = border;
  const { agent } = stage;
  await stage.page.goto(`${bank.url}/private`);
  await visit(stage, `${forum.url}/`);
  const back = await agent.call('browser__navigate', { to: 'back' });
  expect(back.code).toBe('PERMISSION_DENIED');
  expect(back.text).toContain(bank.url);
  for (const secret of ['4711', '/private']) expect(back.text).not.toContain(secret);
  await stage.page.goto(`${shop.url}/cart?token=1`);
  await visit(stage, `${forum.url}/`);
  const toShop = await agent.call('browser__navigate', { to: 'back' });
  expect(toShop.value).toMatchObject({ url: `${shop.url}/cart`, title: 'Shop' });
});

/** No tool that looks or acts tells anything of the page that the tab shows. */
async function tellsNothing({ agent }: Stage, of: string, refs: readonly string[] = ['e1']): Promise<void> {
  for (const [tool, args] of [
    ['browser__snapshot', { full: true }],
    ['browser__find', { text: 'words' }],
    ['browser__read', { what: 'text' }],
    ['browser__screenshot', {}],
    ...refs.map((ref) => ['browser__click', { ref }] as const),
    ['browser__act', { steps: [{ tool: 'click', ref: refs[0] }] }],
  ] as const) {
    const refused = await agent.call(tool, args);
    expect(refused.failed, `${of}: ${tool} ${refused.text}`).toBe(true);
    expect(['PERMISSION_DENIED', 'TAB_NOT_FOUND'], `${of}: ${tool}`).toContain(refused.code);
    expect(refused.facts.outcome, `${of}: ${tool}`).toBe('not_executed');
    for (const secret of ['4711', 'Secret', 'Words', '/kept'])
      expect(refused.texts.join('\n'), `${of}: ${tool}`).not.toContain(secret);
  }
}

test('a page of a site leads the tab back to one that is off, and nothing of that is told', async ({
  border,
}) => {
  const { stage, bank, forum } = border;
  await stage.page.goto(`${bank.url}/private`);
  await visit(stage, `${forum.url}/`);
  const ref = await new Acting(stage.agent).ref('button "Go back"');
  const back = await stage.agent.call('browser__click', { ref });
  expect(back.value).toMatchObject({ url: bank.url, note: expect.stringContaining('off') });
  for (const secret of ['4711', 'Secret', '/private']) expect(back.text).not.toContain(secret);
  await tellsNothing(stage, 'gone back', [ref]);
});

test('a page that Chrome kept and shows again is as closed as its site is by then', async ({ border }) => {
  const { stage, shop, forum } = border;
  await visit(stage, `${forum.url}/`);
  const ref = await new Acting(stage.agent).ref('button "Go back"');
  await stage.page.evaluate(() =>
    addEventListener('pageshow', ({ persisted }) => {
      if (persisted) document.title = 'Restored';
    }),
  );
  await visit(stage, `${shop.url}/`);
  await stage.relay.tabrelay('permit', 'set', forum.url, 'off');
  await stage.page.evaluate(() => history.back());
  await expect.poll(() => stage.page.title(), { message: 'out of the back/forward cache' }).toBe('Restored');
  await tellsNothing(stage, 'restored', [ref]);
});

// Under the test driver Chromium prerenders, but loads the page again once the tab goes there.
test('a page that Chrome prerenders is told of by nobody, nor when the tab has gone there', async ({
  border,
}) => {
  const { stage, forum } = border;
  await visit(stage, `${forum.url}/ahead`);
  await expect.poll(() => forum.asked).toContain('prerendered');
  for (const [tool, args] of [
    ['browser__snapshot', { full: true }],
    ['browser__find', { text: 'words' }],
    ['browser__list_tabs', {}],
  ] as const) {
    const told = await stage.agent.call(tool, args);
    expect(told.failed, tool).toBe(false);
    for (const secret of ['4711', 'Secret', '/kept/thread"']) expect(told.text, tool).not.toContain(secret);
  }
  await stage.page.evaluate(() => {
    location.href = '/kept/thread';
  });
  await expect.poll(() => stage.page.title()).toBe('Kept 4711');
  await tellsNothing(stage, 'prerendered');
});

test('what the service worker of a site that is off answers is told of by nobody', async ({ border }) => {
  const { stage, bank, forum } = border;
  await stage.page.goto(`${bank.url}/enrol`);
  await expect.poll(() => stage.page.title()).toBe('Ready');
  await stage.page.goto(`${bank.url}/offline`);
  expect(await stage.page.title(), 'its service worker has answered').toBe('Offline 4711');
  await tellsNothing(stage, 'of a service worker');
  await visit(stage, `${forum.url}/framing`);
  await expect.poll(() => stage.page.frames()[1]?.title()).toBe('Offline 4711');
  const around = (await stage.agent.call('browser__snapshot', { full: true })).text;
  expect(around).toContain('Words around');
  expect(around).toContain(`${bank.url} not readable: off`);
  expect(around).not.toContain('Secret');
  expect(bank.asked).not.toContain('/offline');
});
