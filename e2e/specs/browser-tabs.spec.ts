// An agent goes from page to page with the browser's own tools, and waits for what is to come.
import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import { z } from 'zod';
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import { portOf } from '../stage/port.ts';
import { expect, test, visit } from '../stage/test.ts';

const page = (title: string) => `<!doctype html><title>${title}</title><p>This is ${title}.</p>`;

test('a tab goes to pages, back, forward and to itself, and says truthfully what came', async ({
  sharedStage: stage,
  closing,
}) => {
  const { agent } = stage;
  const site = await openSite(closing, { one: page('One'), two: page('Two') });
  await visit(stage, `${site}/one`);
  const to = async (to: string) => (await agent.call('browser__navigate', { to })).value;
  const two = { url: `${site}/two`, title: 'Two', status: 'complete', httpStatus: 200 };
  expect(await to(`${site}/two`)).toMatchObject(two);
  expect((await agent.call('browser__snapshot')).text).toBe(`page "Two" ${site}/two\n"This is Two."`);
  expect(await to('back')).toMatchObject({ url: `${site}/one`, title: 'One', status: 'complete' });
  expect(await to('forward')).toMatchObject({ url: `${site}/two`, title: 'Two', status: 'complete' });
  expect(await to('reload')).toMatchObject(two);
  expect(await to(`${site}/two#part`)).toMatchObject({ url: `${site}/two#part`, status: 'complete' });
});

test('what does not load fails with the reason, and so does what is no address', async ({
  sharedStage: stage,
  closing,
}) => {
  const { agent } = stage;
  const site = await openSite(closing, { one: page('One'), gone: 410 });
  await visit(stage, `${site}/one`);
  const silent = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  const port = portOf(silent.address());
  await new Promise((resolve) => silent.close(resolve));
  const refused = await agent.call('browser__navigate', { to: `http://127.0.0.1:${port}/` });
  expect(refused.code).toBe('PAGE_NOT_LOADED');
  expect(refused.text).toContain('net::ERR_CONNECTION_REFUSED, nothing answers at that port');
  expect((await agent.call('browser__navigate', { to: `${site}/one` })).value).toMatchObject({
    title: 'One',
  });
  const gone = await agent.call('browser__navigate', { to: `${site}/gone` });
  expect(gone.text).toContain('the server answered with an error and no page');
  expect((await agent.call('browser__navigate', { to: `${site}/one` })).value).toMatchObject({
    title: 'One',
  });
  expect((await agent.call('browser__navigate', { to: 'forward' })).code).toBe('NOT_FOUND');
  for (const to of ['file:///etc/passwd', 'javascript:alert(1)', 'chrome://settings', 'elsewhere'])
    expect((await agent.call('browser__navigate', { to })).code, to).toBe('VALIDATION_ERROR');
  expect((await agent.call('browser__snapshot')).text).toContain('"This is One."');
});

test('a page that does not come is left for another, and neither is taken for the other', async ({
  sharedStage: stage,
  closing,
}) => {
  const { agent } = stage;
  const site = await openSite(closing, { one: page('One'), two: page('Two'), nothing: 204 });
  await visit(stage, `${site}/one`);
  const silent = createServer(() => {}).listen(0, '127.0.0.1');
  await new Promise((resolve) => silent.once('listening', resolve));
  closing.defer(async () => void silent.close());
  const away = `http://127.0.0.1:${portOf(silent.address())}/away`;
  const to = (url: string) => agent.call('browser__navigate', { to: url });
  const waits = (await to(away)).value;
  expect(waits).toMatchObject({ url: away, status: 'loading' });
  expect(waits).not.toHaveProperty('httpStatus'); // that of the page before
  expect((await to('http://no-such-host.invalid/')).text).toContain('net::ERR_NAME_NOT_RESOLVED');
  expect((await to(away)).value).toMatchObject({ status: 'loading' });
  expect((await to(`${site}/two`)).value).toMatchObject({
    url: `${site}/two`,
    title: 'Two',
    status: 'complete',
  });
  expect((await to(`${site}/nothing`)).block).toMatchObject({ code: 'PAGE_NOT_LOADED', retryable: false });
});

test('an agent closes the tab it has opened, and no other', async ({ sharedStage: stage, closing }) => {
  const { agent, browser } = stage;
  const site = await openSite(closing, { one: page('One'), two: page('Two') });
  await visit(stage, `${site}/one`);
  const opened = (await agent.call('browser__open_tab', { url: `${site}/two` })).value;
  expect((await agent.call('browser__snapshot')).text).toContain('This is Two');
  const before = 2;
  await expect.poll(() => browser.pages().length).toBe(before);
  expect((await agent.call('browser__close_tab')).value).toMatchObject({
    closed: Reflect.get(Object(opened), 'tabId'),
  });
  await expect.poll(() => browser.pages().length).toBe(before - 1);
  for (const tool of ['close_tab', 'press'])
    expect((await agent.call(`browser__${tool}`, tool === 'press' ? { keys: 'x' } : {})).code).toBe(
      'TAB_NOT_FOUND',
    );
  expect(browser.pages().length).toBe(before - 1);
  expect(stage.page.url()).toBe(`${site}/one`);
});

test('a page that hangs for good is closed', async ({ stage, closing }) => {
  const { agent } = stage;
  const hanging = '<!doctype html><title>Hang</title><button onclick="for (;;);">Hang</button>';
  const site = await openSite(closing, { hanging });
  const opened = (await agent.call('browser__open_tab', { url: `${site}/hanging` })).value;
  const { tabId } = z.object({ tabId: z.number() }).parse(opened);
  const ref = await new Acting(agent).ref('button "Hang"');
  const clicked = await agent.call('browser__click', { ref }, { timeoutMs: 3000 });
  expect([clicked.code, clicked.facts.outcome]).toEqual(['TIMEOUT', 'unknown']);
  // Chrome may wait for the page first, and is then asked again.
  await expect
    .poll(async () => (await agent.call('browser__close_tab', { tabId })).text)
    .toBe(`closed tab ${tabId}`);
});

test('it waits for texts, elements, values and addresses, also over pages', async ({
  sharedStage: stage,
  closing,
}) => {
  const { agent } = stage;
  const late = `<!doctype html><title>Late</title><p id="p">Working</p><button id="b" disabled>Go</button><input id="i">
<script>
  addEventListener('go', () => { p.textContent = 'Ready at last'; b.disabled = false; i.value = '42'; });
  addEventListener('leave', () => { location.href = '/next'; });
</script>`;
  const site = await openSite(closing, { late, next: page('Next') });
  await visit(stage, `${site}/late`);
  const wait = async (condition: Record<string, unknown>) => await agent.call('browser__wait', condition);
  const tell = (name: string) => stage.page.evaluate((event) => void dispatchEvent(new Event(event)), name);
  expect((await agent.call('browser__snapshot')).text).toContain('button "Go" [e1] disabled');
  expect((await wait({ text: 'Ready', timeoutMs: 200 })).code).toBe('WAIT_TIMEOUT');
  const all = Promise.all([
    wait({ text: 'ready AT' }),
    wait({ gone: 'Working' }),
    wait({ ref: 'e1' }),
    wait({ ref: 'e2', value: '42' }),
  ]);
  await tell('go');
  const said = (await all).map(({ text }) => text.split('\n'));
  expect(said.map(([first]) => first)).toEqual([
    '"ready AT" is there',
    '"Working" is gone',
    'e1 is there',
    'e2 has that value',
  ]);
  const news = said.flatMap(([, ...lines]) => lines);
  expect(news, 'each change is told once').toEqual([
    '~ "Ready at last"',
    '~ button "Go" [e1]',
    '~ textbox [e2] = "42"',
  ]);
  expect((await wait({ idle: true })).text).toBe('the page is idle');
  const next = wait({ text: 'This is Next' });
  const gone = wait({ gone: 'e1' });
  await tell('leave');
  expect((await next).text).toBe('"This is Next" is there');
  expect((await gone).text).toBe('e1 is gone');
  expect((await wait({ url: '/next' })).text).toBe(`the address is ${site}/next`);
  for (const wrong of [{}, { text: 'a', url: 'b' }, { value: 'x' }])
    expect((await wait(wrong)).code).toBe('VALIDATION_ERROR');
});

test('of a tab without a page to use it is said what it shows, and what to do', async ({
  sharedStage: stage,
  closing,
}) => {
  const { agent, page, relay } = stage;
  const server = createServer((request, response) => {
    const type = request.url === '/a.pdf' ? 'application/pdf' : 'text/html';
    response.writeHead(200, { 'content-type': type }).end(type === 'text/html' ? '<h1>One</h1>' : smallPdf);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  const site = `http://127.0.0.1:${portOf(server.address())}`;
  await visit(stage, `${site}/`);
  expect((await agent.call('browser__snapshot')).text).toContain('h1 "One"');
  for (const url of ['about:blank', 'chrome://version/', `view-source:${site}/`]) {
    await page.goto(url);
    await expect.poll(() => relay.tabs(), { message: url }).not.toContain(`${site}/`);
    const said = await agent.call('browser__snapshot');
    expect(said.failed, url).toBe(true);
    expect(said.texts.join(' '), url).toContain('browser__open_tab');
    expect(said.texts.join(' '), url).toMatch(/is blank, or shows a page of the browser itself/);
    const there = await agent.call('browser__open_tab', { url: `${site}/` });
    expect(there.failed, url).toBe(false);
    await agent.call('browser__close_tab');
  }
  await page.goto(`${site}/a.pdf`).catch(() => undefined);
  await expect.poll(async () => (await agent.call('browser__snapshot')).text).toContain('PDF');
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await page.goto(`${site}/`).catch(() => undefined);
  await expect
    .poll(async () => (await agent.call('browser__snapshot')).texts.join(' '))
    .toContain('The tab shows an error of Chrome');
});

const smallPdf = `%PDF-1.1
1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj
2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj
3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>endobj
trailer<</Root 1 0 R>>
`;

test('a look waits until a page has come to its end, and not for ever', async ({
  sharedStage: stage,
  closing,
}) => {
  const { agent } = stage;
  const came = new Map<string, ServerResponse>();
  const server = createServer((request, response) => {
    response.writeHead(200, { 'content-type': 'text/html' });
    response.write(`<!doctype html><title>Slow</title><p>First</p>${' '.repeat(2000)}`);
    came.set(request.url ?? '', response);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closing.defer(async () => {
    server.closeAllConnections();
    server.close();
  });
  const site = `http://127.0.0.1:${portOf(server.address())}`;
  const first = async (path: string) => {
    await stage.page.goto(`${site}/${path}`, { waitUntil: 'commit' });
    await expect(stage.page.getByText('First')).toBeVisible();
    await expect.poll(() => stage.relay.tabs()).toContain(`${site}/${path}`);
  };
  const running = () => stage.relay.asPerson('GET', '/api/v1/running');
  for (const [tool, args] of [
    ['snapshot', {}],
    ['find', { text: 'last' }],
    ['read', { what: 'text' }],
  ] as const) {
    await first(tool);
    const looking = agent.call(`browser__${tool}`, args);
    await expect.poll(running).toMatchObject({ calls: [{}] });
    came.get(`/${tool}`)?.end('<button>The last</button>');
    expect((await looking).text, tool).toContain('The last');
  }
  await first('endless');
  expect((await agent.call('browser__snapshot')).text).toContain('"First"');
});
