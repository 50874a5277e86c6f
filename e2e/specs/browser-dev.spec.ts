// The tools for developers: off until a person switches them on; then console, requests, scripts and storage of any
// page, without its credentials, and without believing what a hostile page makes of them.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { z } from 'zod';
import { openDevSite } from '../sites/dev.ts';
import { extensionId } from '../stage/browser.ts';
import { storeFolder } from '../stage/edition.ts';
import base, { expect, openStage, type Stage, visit } from '../stage/test.ts';

const on = { plugins: { 'browser-dev': { enabled: true } } };

const test = base.extend<{ at: (page: string) => Promise<Stage & { site: string }> }>({
  at: async ({ sharedStage, closing }, use) => {
    const site = await openDevSite(closing);
    await use(async (page) => {
      await visit(sharedStage, `${site}${page}`);
      return { ...sharedStage, site };
    });
  },
});

test.use({ groundOptions: on });

const consoleShape = z.object({
  messages: z.array(
    z.object({
      level: z.string(),
      text: z.string(),
      where: z.string().optional(),
      times: z.number().optional(),
    }),
  ),
  total: z.number(),
  dropped: z.number().optional(),
});
const networkShape = z.object({
  requests: z.array(
    z.object({
      id: z.number(),
      url: z.string(),
      type: z.string(),
      method: z.string(),
      status: z.number().optional(),
    }),
  ),
  total: z.number(),
  dropped: z.number().optional(),
});

const call = async ({ agent }: Stage, tool: string, args: Record<string, unknown> = {}) =>
  (await agent.call(`browser__${tool}`, args)).value;
const failure = async ({ agent }: Stage, tool: string, args: Record<string, unknown> = {}) => {
  const answer = await agent.call(`browser__${tool}`, args);
  expect(answer.failed, answer.text).toBe(true);
  return { code: answer.code, text: answer.text };
};
const evaluate = async (stage: Stage, code: string) =>
  z.object({ value: z.unknown() }).parse(await call(stage, 'evaluate', { code })).value;

test('they are off: not listed, and refused with what switches them on', async ({ closing }) => {
  const { agent } = await openStage(closing);
  const listed = (await agent.client.listTools()).tools.map(({ name }) => name);
  expect(listed).toContain('browser__snapshot');
  for (const tool of ['console', 'network', 'evaluate', 'storage', 'performance']) {
    expect(listed).not.toContain(`browser__${tool}`);
    const refused = await agent.call(`browser__${tool}`, {});
    expect(refused.code).toBe('PERMISSION_DENIED');
    expect(refused.text).toContain('tabrelay config set plugins.browser-dev.enabled true');
  }
});

test('the console is captured from the first call on, also on the next page', async ({ at }) => {
  const stage = await at('/plain');
  expect(await call(stage, 'console')).toMatchObject({
    messages: [],
    note: expect.stringContaining('begins now'),
  });
  await call(stage, 'navigate', { to: `${stage.site}/talk` });
  await stage.page.evaluate(() => {
    setTimeout(() => {
      throw new Error('thrown late');
    });
    Promise.reject(new TypeError('nobody caught this')).finally(() => {});
  });
  const texts = async () => consoleShape.parse(await call(stage, 'console')).messages.map(({ text }) => text);
  for (const text of [
    /missing\.png/,
    /^Uncaught Error: thrown late/,
    /^Unhandled rejection: TypeError: nobody/,
  ])
    await expect.poll(texts).toContainEqual(expect.stringMatching(text));
  await stage.page.evaluate(() =>
    console.info('my token is eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhZGEifQ.c2lnbmF0dXJl'),
  );
  expect(await texts()).toContain('my token is [redacted]');
  await stage.page.evaluate(() => console.warn('careful %s of %d', 'Bob', 8, { a: [1, { b: 2 }] }));
  const { messages } = consoleShape.parse(await call(stage, 'console', { level: 'warning' }));
  expect(messages.find(({ text }) => text === 'careful Bob of 8 {"a":[1,{"b":2}]}')?.level).toBe('warning');
  expect(messages.every(({ level }) => level === 'error' || level === 'warning')).toBe(true);
  expect(await call(stage, 'console', { action: 'stop' })).toEqual({ capturing: false });
  expect(await stage.page.evaluate(() => console.log.toString())).toContain('[native code]');
});

test('a flood of messages is bounded, and what is left out is counted', async ({ at }) => {
  const stage = await at('/plain');
  await call(stage, 'console');
  await stage.page.evaluate(() => {
    const circle: Record<string, unknown> = {
      get bad() {
        throw new Error('no');
      },
    };
    circle.self = circle;
    for (let i = 0; i < 20_000; i++) console.log(i, 'x'.repeat(50));
    console.error(circle, 10n, Symbol('s'), document.body, new Map([[1, 2]]));
    for (let i = 0; i < 50; i++) console.info('same');
  });
  const { messages, dropped, total } = consoleShape.parse(await call(stage, 'console', { limit: 3 }));
  expect(messages.at(-1)).toMatchObject({ text: 'same', times: 50 });
  expect(messages.at(-2)?.text).toContain('[threw Error: no]');
  expect(messages.at(-2)?.text).toContain('[circular]');
  expect(total).toBeLessThanOrEqual(1000);
  expect((dropped ?? 0) + total).toBe(20_051);
});

test('code runs among the page’s scripts, once, and what it returns is told as data', async ({ at }) => {
  const stage = await at('/plain');
  await stage.page.evaluate(() => Reflect.set(window, 'own', { count: 0 }));
  expect(await evaluate(stage, 'document.title;')).toBe('Dev');
  expect(await evaluate(stage, '({ sum: 1 + 1, own: window.own })')).toEqual({ sum: 2, own: { count: 0 } });
  expect(await evaluate(stage, '() => ++own.count')).toBe(1);
  expect(await evaluate(stage, 'async () => { await null; return ++own.count }')).toBe(2);
  expect(await evaluate(stage, 'const n = ++own.count; return n * 10')).toBe(30);
  expect(await evaluate(stage, 'await Promise.resolve([1n, NaN, /x/, new Date(0), undefined])')).toEqual([
    '1n',
    'NaN',
    {},
    '1970-01-01T00:00:00.000Z',
    null,
  ]);
  expect(await evaluate(stage, 'document.querySelector("#root")')).toBe('<div id="root"></div>');
  expect(
    await evaluate(stage, 'const a = { get x() { throw new RangeError("no") } }; a.a = a; return a'),
  ).toEqual({
    x: '[threw RangeError: no]',
    a: '[circular]',
  });
  expect(await call(stage, 'evaluate', { code: 'void 0' })).toEqual({ undefined: true });
  const thrown = await failure(stage, 'evaluate', { code: '// one\n++own.count;\nthrow new Error("boom")' });
  expect(thrown).toMatchObject({
    code: 'EVALUATION_FAILED',
    text: expect.stringContaining('Error: boom (line 3'),
  });
  const hostile = '++own.count; throw { toString() { throw 1 } }';
  expect(await failure(stage, 'evaluate', { code: hostile })).toMatchObject({ code: 'EVALUATION_FAILED' });
  expect(await failure(stage, 'evaluate', { code: 'if (' })).toMatchObject({ code: 'VALIDATION_ERROR' });
  expect(await stage.page.evaluate(() => Reflect.get(window, 'own'))).toEqual({ count: 5 });
  const huge = await stage.agent.call('browser__evaluate', {
    code: 'Array.from({length: 1e6}, (_, i) => i)',
  });
  expect(huge.text).toContain('"truncated":true');
  expect(huge.texts.join(' ')).toContain('');
  expect(await failure(stage, 'evaluate', { code: 'new Promise(() => {})', timeoutMs: 500 })).toMatchObject({
    code: 'TIMEOUT',
  });
});

test('a page that forbids code from text is told as that, and cannot forbid user scripts', async ({ at }) => {
  const stage = await at('/strict');
  if (storeFolder) return expect(await evaluate(stage, '1 + 1')).toBe(2);
  const refused = await failure(stage, 'evaluate', { code: '1 + 1' });
  expect(refused).toMatchObject({
    code: 'EVALUATION_FORBIDDEN',
    text: expect.stringContaining('--trusted-input'),
  });
});

test('a page that replaced its built-ins changes nothing about the answers', async ({ at }) => {
  const stage = await at('/hostile');
  expect(await evaluate(stage, '({ list: [1, { two: 2 }], text: "a\\"b" })')).toEqual({
    list: [1, { two: 2 }],
    text: 'a"b',
  });
  await call(stage, 'console');
  await stage.page.evaluate(() => console.error('still heard'));
  const { messages } = consoleShape.parse(await call(stage, 'console'));
  expect(messages.at(-1)?.text).toBe('still heard');
  await call(stage, 'network');
  expect(await call(stage, 'storage', { action: 'list' })).toMatchObject({ items: [] });
});

test('requests are told without credentials, and exported as HAR', async ({ at }) => {
  const stage = await at('/plain');
  await call(stage, 'network', { bodies: true });
  await stage.page.evaluate(async () => {
    await fetch('/api?access_token=verysecret&q=1', { headers: { authorization: 'Bearer verysecret' } }).then(
      (r) => r.json(),
    );
    await fetch('/moved');
    await fetch('/nowhere', { method: 'POST', body: '{"password":"verysecret","name":"Ada"}' });
    await new Promise((resolve) => {
      const request = new XMLHttpRequest();
      request.open('GET', '/api?xhr=1');
      request.onloadend = resolve;
      request.send();
    });
  });
  const read = networkShape.parse(await call(stage, 'network'));
  expect(
    read.requests.map(({ method, status, url }) => [method, status, url.replace(stage.site, '')]),
  ).toEqual([
    ['GET', 200, '/api?access_token=[redacted]&q=1'],
    ['GET', 302, '/moved'],
    ['GET', 200, '/api?token=[redacted]'],
    ['POST', 404, '/nowhere'],
    ['GET', 200, '/api?xhr=1'],
  ]);
  const all: unknown[] = [];
  for (const { id } of read.requests) all.push(await call(stage, 'network', { action: 'get', id }));
  expect(all[0]).toMatchObject({ body: '{"name":"Ada","access_token":"[redacted]","list":[1,2,3]}' });
  expect(all[3]).toMatchObject({ posted: '{"password":"[redacted]","name":"Ada"}' });
  expect(all[4]).toMatchObject({ body: expect.stringContaining('Ada') });
  expect(JSON.stringify(all)).not.toContain('verysecret');
  expect(await call(stage, 'network', { failed: true })).toMatchObject({ requests: [{ status: 404 }] });
  expect(await call(stage, 'network', { contains: 'MOVED' })).toMatchObject({ requests: [{ status: 302 }] });
  expect(await failure(stage, 'network', { action: 'get', id: 99 })).toMatchObject({ code: 'NOT_FOUND' });

  const exported = await stage.agent.client.callTool({
    name: 'browser__network',
    arguments: { action: 'har' },
  });
  const { uri } = z
    .object({ type: z.literal('resource_link'), uri: z.string(), mimeType: z.literal('application/json') })
    .parse(z.array(z.unknown()).parse(exported.content)[1]);
  const { contents } = await stage.agent.client.readResource({ uri });
  const text = z.object({ text: z.string() }).parse(contents[0]).text;
  expect(text).not.toContain('verysecret');
  const har = z
    .object({
      log: z.object({ version: z.literal('1.2'), entries: z.array(z.object({ request: z.object({}) })) }),
    })
    .parse(JSON.parse(text));
  expect(har.log.entries).toHaveLength(5);
  expect(await call(stage, 'network', { action: 'stop' })).toEqual({ capturing: false });
});

test('requests of another site that the tab showed meanwhile are not told', async ({ at, closing }) => {
  const stage = await at('/plain');
  await call(stage, 'network');
  const other = await openDevSite(closing);
  await visit(stage, `${other}/plain`);
  await stage.page.evaluate(async () => void (await fetch('/api?of=other')));
  await visit(stage, `${stage.site}/plain`);
  await stage.page.evaluate(async () => void (await fetch('/api?of=this')));
  const told = JSON.stringify([
    await call(stage, 'network'),
    await call(stage, 'network', { contains: 'api' }),
  ]);
  expect(told).toContain('of=this');
  expect(told).not.toContain(new URL(other).host);
});

test('more requests than are kept are bounded, and what is left out is counted', async ({ at }) => {
  const stage = await at('/plain');
  await call(stage, 'network');
  await stage.page.evaluate(async () => {
    for (let i = 0; i < 12; i++)
      await Promise.all(Array.from({ length: 100 }, () => fetch('/api').catch(() => {})));
  });
  await expect
    .poll(async () => networkShape.parse(await call(stage, 'network', { limit: 1 })).dropped)
    .toBe(200);
  expect(networkShape.parse(await call(stage, 'network', { limit: 1 }))).toMatchObject({ total: 1000 });
});

test('storage is listed with secrets masked, read by name, set and removed', async ({ at }) => {
  const stage = await at('/plain');
  await stage.page.evaluate(async () => {
    localStorage.setItem('theme', 'dark');
    localStorage.setItem('accessToken', 'verysecret');
    localStorage.setItem('user', '{"name":"Ada","access_token":"verysecret"}');
    sessionStorage.setItem('step', '2');
    await new Promise<void>((resolve) => {
      const request = indexedDB.open('shop', 3);
      request.onupgradeneeded = () => {
        request.result
          .createObjectStore('orders', { keyPath: 'id' })
          .put({ id: 7, what: 'cup', token: 'verysecret' });
      };
      request.onsuccess = () => {
        request.result.close();
        resolve();
      };
    });
  });
  const list = await call(stage, 'storage', { action: 'list' });
  expect(list).toMatchObject({
    items: [
      { key: 'accessToken', secret: true },
      { key: 'theme', value: 'dark' },
      { key: 'user', value: '{"name":"Ada","access_token":"[redacted]"}' },
    ],
  });
  expect(JSON.stringify(list)).not.toContain('verysecret');
  expect(await call(stage, 'storage', { action: 'get', key: 'accessToken' })).toMatchObject({
    value: 'verysecret',
  });
  await call(stage, 'storage', { action: 'set', area: 'session', key: 'step', value: '3' });
  await call(stage, 'storage', { action: 'remove', key: 'theme' });
  expect(await stage.page.evaluate(() => [sessionStorage.step, localStorage.theme])).toEqual([
    '3',
    undefined,
  ]);
  expect(await failure(stage, 'storage', { action: 'get', key: 'theme' })).toMatchObject({
    code: 'NOT_FOUND',
  });

  const area = 'indexedDB';
  expect(await call(stage, 'storage', { action: 'list', area })).toEqual({
    databases: [{ name: 'shop', version: 3, stores: [{ store: 'orders', records: 1 }] }],
  });
  const at7 = { area, database: 'shop', store: 'orders' };
  const records = await call(stage, 'storage', { action: 'list', ...at7 });
  expect(records).toMatchObject({ records: [{ key: 7, value: { what: 'cup' } }] });
  expect(JSON.stringify(records)).not.toContain('verysecret');
  const one = await call(stage, 'storage', { action: 'get', key: '7', ...at7 });
  expect(one).toMatchObject({ value: { token: 'verysecret' } });
  await call(stage, 'storage', { action: 'set', key: '8', value: '{"id":8}', ...at7 });
  for (const value of ['{"id":7,"what":"another"}', '{"what":"no key"}', '5'])
    expect(
      await failure(stage, 'storage', { action: 'set', key: '8', value, ...at7 }),
      'a record is not written under another key than the person was asked about',
    ).toMatchObject({ code: 'VALIDATION_ERROR' });
  await call(stage, 'storage', { action: 'remove', key: '7', ...at7 });
  expect(await call(stage, 'storage', { action: 'list', ...at7 })).toMatchObject({ records: [{ key: 8 }] });
  expect(await failure(stage, 'storage', { action: 'list', ...at7, database: 'none' })).toMatchObject({
    code: 'NOT_FOUND',
  });
});

test('cookies are seen once the person allowed it, and HttpOnly ones never', async ({ at }) => {
  const stage = await at('/plain');
  const listing = { action: 'list' };
  const asked = await failure(stage, 'cookies', listing);
  expect(asked).toMatchObject({ code: 'BROWSER_PERMISSION_MISSING' });
  const panel = await stage.browser.newPage();
  await panel.goto(`chrome-extension://${await extensionId(stage.browser)}/panel.html`);
  await panel.getByRole('button', { name: 'Allow cookies' }).click();
  await expect(panel.getByRole('button', { name: 'Allow cookies' })).toHaveCount(0);
  await panel.close();
  const tabId = z
    .array(z.object({ tabId: z.number(), url: z.string() }))
    .parse(
      z.object({ tabs: z.unknown() }).parse((await stage.agent.call('browser__list_tabs', {})).value).tabs,
    )
    .find(({ url }) => url.startsWith(stage.site))?.tabId;
  const ask = (args: Record<string, unknown>) => call(stage, 'cookies', { tabId, ...args });
  expect(await ask(listing)).toMatchObject({
    cookies: expect.arrayContaining([
      expect.objectContaining({ name: 'session', httpOnly: true, value: 'never shown: HttpOnly' }),
      expect.objectContaining({ name: 'theme', value: '•••• (4 characters)' }),
    ]),
  });
  expect(await ask({ action: 'get', name: 'theme' })).toMatchObject({ value: 'dark' });
  expect(await ask({ action: 'get', name: 'session' })).toMatchObject({ value: 'never shown: HttpOnly' });
  for (const name of ['odd', '__Host-odd', 'a b', '日本', 'x'.repeat(300)]) {
    const answer = await stage.agent.call('browser__cookies', { tabId, action: 'set', name, value: 'new' });
    expect(answer.failed ? answer.code : 'set', name).toMatch(/^(?:set|VALIDATION_ERROR)$/);
  }
  expect(await stage.page.evaluate(() => document.cookie)).toContain('odd=new');
  const abroad = ['//other.example/', '/\\\\other.example/', 'http://other.example/'];
  for (const path of abroad)
    await stage.agent.call('browser__cookies', { tabId, action: 'set', name: 'abroad', value: 'new', path });
  expect(await stage.browser.cookies(['http://other.example/', 'https://other.example/'])).toEqual([]);
  expect(
    await failure(stage, 'cookies', { tabId, action: 'set', name: 'session', value: 'mine' }),
  ).toMatchObject({
    code: 'VALIDATION_ERROR',
  });
  await ask({ action: 'remove', name: 'odd' });
  expect(await stage.page.evaluate(() => document.cookie)).not.toContain('odd=new;');
  expect(await failure(stage, 'cookies', { tabId, action: 'get', name: 'odd' })).toMatchObject({
    code: 'NOT_FOUND',
  });
});

test('downloads of the site are told, and no others', async ({ closing }) => {
  const stage = await openStage(closing, {
    config: on,
    beforeBrowser: ({ extension }) => permit(extension, 'downloads'),
  });
  const site = await openDevSite(closing);
  await visit(stage, `${site}/plain`);
  await stage.page.evaluate(() => {
    const link = Object.assign(document.createElement('a'), {
      href: '/api?token=verysecret',
      download: 'ada.json',
    });
    document.body.append(link);
    link.click();
  });
  const shape = z.object({
    downloads: z.array(z.object({ state: z.string(), file: z.string(), url: z.string() })),
  });
  await expect
    .poll(async () => shape.parse(await call(stage, 'downloads')).downloads)
    .toMatchObject([{ state: 'complete', url: `${site}/api?token=[redacted]` }]);
  await visit(stage, `${await openDevSite(closing)}/plain`);
  expect(await call(stage, 'downloads')).toMatchObject({ downloads: [], total: 0 });
});

/** Gives the extension a permission as a person does in the panel: there is nobody to press the button of Chrome. */
async function permit(extension: string, permission: string): Promise<void> {
  const file = path.join(extension, 'manifest.json');
  const manifest = z
    .looseObject({ permissions: z.array(z.string()) })
    .parse(JSON.parse(await readFile(file, 'utf8')));
  manifest.permissions.push(permission);
  await writeFile(file, JSON.stringify(manifest));
}

test('the page is measured by what the browser saw', async ({ at }) => {
  const stage = await at('/plain');
  await stage.page.evaluate(async () => {
    const until = performance.now() + 80;
    while (performance.now() < until);
    await fetch('/api?key=verysecret');
  });
  const measured = await call(stage, 'performance');
  expect(measured).toMatchObject({
    navigation: { type: 'navigate', status: 200, ms: { load: expect.any(Number) } },
    cls: 0,
    resources: { count: expect.any(Number), largest: expect.arrayContaining([expect.objectContaining({})]) },
  });
  expect(JSON.stringify(measured)).not.toContain('verysecret');
});

test('while bodies are kept, a request that fails and that nobody handles is still such a one', async ({
  at,
}) => {
  const stage = await at('/plain');
  await call(stage, 'network', { bodies: true });
  const heard = await stage.page.evaluate(async () => {
    const reasons: string[] = [];
    addEventListener('unhandledrejection', ({ reason }) => reasons.push(String(reason)));
    await fetch('http://127.0.0.1:1/handled').catch(() => {});
    void fetch('http://127.0.0.1:1/not-handled');
    await new Promise((resolve) => addEventListener('unhandledrejection', resolve, { once: true }));
    return reasons;
  });
  expect(heard).toEqual([expect.stringContaining('Failed to fetch')]);
});
