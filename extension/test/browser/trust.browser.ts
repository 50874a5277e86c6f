import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { hash, pluginList, type Stage, setStage } from './stage.ts';

// Replaces and spies on everything it can find, and keeps what it sees of us.
const hostile = `
  const root = document.documentElement, set = root.setAttribute.bind(root);
  let seen = '';
  const note = (what) => { seen += what + ','; set('data-seen', seen); };
  for (const name of ['tabrelay:adapter', 'tabrelay:console', 'tabrelay:bridge', 'message'])
    for (const target of [document, window]) target.addEventListener(name, () => note('event ' + name), true);
  Object.defineProperty(Object.prototype, 'code', { set() { note('setter') }, configurable: true });
  Object.defineProperty(Object.prototype, 'toJSON', { get() { note('toJSON'); return undefined }, configurable: true });
  const spy = (owner, name) => {
    try { Object.defineProperty(owner, name, { value: () => { note('called ' + name); throw new Error('taken') } }) } catch {}
  };
  for (const name of ['parse', 'stringify']) spy(JSON, name);
  for (const proto of [Promise, Map, Set, Array, String, Function, EventTarget, MessagePort, AbortController, RegExp, Node, Performance]
    .map((ctor) => ctor.prototype)) for (const name of Object.getOwnPropertyNames(proto)) if (name !== 'constructor') spy(proto, name);
  Object.defineProperty(MessageEvent.prototype, 'data', { get() { note('data'); return 'forged' } });
  Object.defineProperty(Promise.prototype, 'constructor', { get() { note('species'); throw new Error('taken') } });
  Object.defineProperty(Promise, Symbol.species, { get() { throw new Error('taken') } });
  for (const name of ['apply', 'get', 'set', 'defineProperty', 'getPrototypeOf', 'ownKeys']) spy(Reflect, name);
  for (const name of ['keys', 'entries', 'freeze', 'create', 'assign', 'getOwnPropertyDescriptor', 'defineProperty']) spy(Object, name);
  for (const name of ['max', 'min', 'ceil', 'round']) spy(Math, name);
  for (const name of Object.getOwnPropertyNames(window)) {
    if (['window', 'document', 'location', 'top', 'self', 'Object', 'undefined', 'NaN', 'Infinity'].includes(name)) continue;
    try { window[name] = undefined } catch {}
  }
`;

let stage: Stage;
before(async () => {
  stage = await setStage((request, response) => {
    response.setHeader('content-type', 'text/html');
    const script = request.url?.startsWith('/hostile') ? `<script>${hostile}</script>` : '';
    const frames = request.url === '/outer' ? '<iframe src="/inner"></iframe>' : '';
    response.end(`<!doctype html><head>${script}<title>${request.url}</title></head><p>page${frames}`);
  });
});
after(() => stage?.close());

for (const world of ['iso', 'main']) {
  test(`${world}: a page that replaces every global sees and changes nothing`, async () => {
    const { tabId, page } = await stage.open(`/hostile/${world}`);
    const echoed = await stage.call(tabId, `${world}.echo`, { secret: 1 }, { settings: { token: 't' } })
      .outcome;
    assert.equal(echoed.payload, '{"secret":1}');
    assert.equal(
      (await stage.call(tabId, `${world}.title`).outcome).payload,
      `{"title":"/hostile/${world}"}`,
    );
    const error = { code: 'NOT_FOUND', category: 'not_found', retryable: false, message: 'gone' };
    const threw = await stage.call(tabId, `${world}.throwTool`, { error }).outcome;
    assert.equal(
      JSON.parse(JSON.stringify(threw.frame.error)).code,
      world === 'iso' ? 'NOT_FOUND' : 'INTERNAL_ERROR',
    );
    const big = await stage.call(tabId, `${world}.big`, { size: 100 }, { maxResultBytes: 50 }).outcome;
    assert.match(JSON.stringify(big.frame), /OUTPUT_TOO_LARGE|threw/);
    const slow = await stage.call(tabId, `${world}.watchSignal`, {}, { timeoutMs: 1500, maxTimeoutMs: 1500 })
      .outcome;
    assert.equal(slow.frame.started, true);
    const { payload: seen } = await stage.call(tabId, 'iso.seen').outcome;
    assert.doesNotMatch(seen, /event|data/);
    await page.close();
  });
}

// As the relay calls the tools of a plugin that works in frames.
const inFrames = { frames: 'all', sites: { rest: 'open', origins: {} } } as const;

test('a tab that was open before its plugins is served, marked late, and gets no secrets', async () => {
  await stage.offer([]);
  const { tabId, page } = await stage.open('/early-bird');
  await stage.offer(pluginList(stage.origin));
  const isolated = await stage.call(tabId, 'iso.settings', {}, { settings: { token: 't' } }).outcome;
  assert.equal(isolated.payload, '{"token":"t"}');
  assert.equal(isolated.frame.trust, undefined);
  const main = await stage.call(tabId, 'main.title').outcome;
  assert.equal(main.payload, '{"title":"/early-bird"}');
  assert.equal(main.frame.trust, 'late');
  const open = await stage.call(tabId, 'main.settings', {}, { settings: { limit: 7 } }).outcome;
  assert.equal(open.payload, '{"limit":7}');
  const secret = { settings: { token: 't' }, secret: true };
  const withSettings = await stage.call(tabId, 'main.settings', {}, secret).outcome;
  assert.match(JSON.stringify(withSettings.frame.refusal), /ADAPTER_NOT_READY.*not_executed/);
  await page.reload();
  const after = await stage.call(tabId, 'main.settings', {}, secret).outcome;
  assert.equal(after.payload, '{"token":"t"}');
  assert.equal(after.frame.trust, undefined);
  await page.close();
});

test('a frame can be reached by its page: it is late, and gets no secrets', async () => {
  const all = { name: 'main', hash, world: 'main', file: 'adapters/main.js', excludes: [], frames: 'all' };
  await stage.offer([{ ...all, matches: [`${stage.origin}/inner`] }]);
  const { tabId, page } = await stage.open('/outer');
  const open = await stage.call(tabId, 'main.title', {}, inFrames).outcome;
  assert.equal(open.payload, '{"title":"/inner"}');
  assert.equal(open.frame.trust, 'late');
  const secret = { settings: { token: 't' }, secret: true, ...inFrames };
  const withSettings = await stage.call(tabId, 'main.settings', {}, secret).outcome;
  assert.match(JSON.stringify(withSettings.frame.refusal), /ADAPTER_NOT_READY.*not_executed.*withheld/);
  await page.close();
  await stage.offer(pluginList(stage.origin));
});

test('a plugin for all frames runs in the frame it matches, and says so', async () => {
  const inner = {
    name: 'iso',
    hash,
    world: 'isolated',
    file: 'adapters/iso.js',
    excludes: [],
    frames: 'all',
  };
  await stage.offer([{ ...inner, matches: [`${stage.origin}/inner`] }]);
  const { tabId, page } = await stage.open('/outer');
  const { frame, payload } = await stage.call(tabId, 'iso.title', {}, inFrames).outcome;
  assert.equal(payload, '{"title":"/inner"}');
  assert.equal(frame.frame, `${stage.origin}/inner`);
  await page.close();

  // A frame that is not there yet is waited for.
  const later = await stage.open('/outer-later');
  const called = stage.call(later.tabId, 'iso.title', {}, inFrames).outcome;
  await later.page.evaluate((src) => {
    const inside = document.createElement('iframe');
    inside.src = src;
    document.body.append(inside);
  }, `${stage.origin}/inner`);
  assert.equal((await called).payload, '{"title":"/inner"}');
  await later.page.close();
  await stage.offer(pluginList(stage.origin));
});
