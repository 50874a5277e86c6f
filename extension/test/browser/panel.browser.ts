// The side panel's way to the relay, through the worker, and who may not take it.
import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import type { Page } from 'playwright-core';
import { type Stage, setStage } from './stage.ts';

let stage: Stage;
beforeEach(async () => {
  stage = await setStage();
});
afterEach(() => stage?.close());

// Opens a port as the panel's own script does, and keeps what comes over it.
async function openPort(page: Page, name = 'panel'): Promise<void> {
  await page.evaluate((as) => {
    const heard: unknown[] = [];
    const port = chrome.runtime.connect({ name: as });
    port.onMessage.addListener((message: unknown) => heard.push(message));
    port.onDisconnect.addListener(() => heard.push({ type: 'turned away' }));
    Object.assign(globalThis, { heard, port });
  }, name);
}

const say = (page: Page, message: object) =>
  page.evaluate((said) => Reflect.get(globalThis, 'port').postMessage(said), message);

const hear = (page: Page, type: string) =>
  page
    .waitForFunction((wanted) => {
      const heard: { type?: string }[] = Reflect.get(globalThis, 'heard');
      return heard.findLast((message) => message.type === wanted);
    }, type)
    .then((handle) => handle.jsonValue());

test('a request of the panel reaches the relay, and its answer the panel', async () => {
  const panel = await stage.openPanel();
  await openPort(panel);
  const from = stage.relay.got.length;
  await say(panel, {
    type: 'request',
    id: 'mine',
    method: 'PUT',
    path: '/api/v1/paused?x=1',
    body: { paused: true },
  });
  const { frame, payload } = await stage.relay.wait(
    ({ type, path }) => type === 'request' && path === '/api/v1/paused?x=1',
    from,
  );
  assert.equal(frame.method, 'PUT');
  assert.match(String(frame.id), /^[0-9a-f]{32}$/);
  assert.equal(payload, '{"paused":true}');
  stage.relay.send({ type: 'response', id: frame.id, status: 409 }, '{"error":\n{"message":"no"}}');
  assert.deepEqual(await hear(panel, 'response'), {
    type: 'response',
    id: 'mine',
    status: 409,
    body: { error: { message: 'no' } },
  });
});

test('news of the relay reach every panel', async () => {
  const panels = [await stage.openPanel(), await stage.openPanel()];
  for (const panel of panels) await openPort(panel);
  // Who has heard something has a port that the worker has, too.
  for (const panel of panels) await panel.waitForFunction(() => Reflect.get(globalThis, 'heard').length > 0);
  stage.relay.send({ type: 'news', topics: ['approvals'], waiting: 2 });
  for (const panel of panels)
    assert.deepEqual(await hear(panel, 'news'), { type: 'news', topics: ['approvals'], waiting: 2 });
});

test('a request under way when the link drops is told so', async () => {
  const panel = await stage.openPanel();
  await openPort(panel);
  const from = stage.relay.got.length;
  await say(panel, { type: 'request', id: 'mine', method: 'GET', path: '/api/v1/nowhere' });
  await stage.relay.wait(({ path }) => path === '/api/v1/nowhere', from);
  stage.relay.socket?.terminate();
  const answer = await hear(panel, 'response');
  assert.match(JSON.stringify(answer), /"status":0.*link to the relay was lost/);
});

const requests = (from: number) =>
  stage.relay.got.slice(from).filter(({ frame }) => frame.type === 'request');

test('a plugin in the isolated world cannot speak for the panel', async () => {
  const { tabId } = await stage.open('/impostor');
  const from = stage.relay.got.length;
  const { frame } = await stage.call(tabId, 'iso.playPanel', { body: { paused: false } }).outcome;
  assert.match(JSON.stringify(frame.error), /undefined/, 'it has no chrome.runtime');
  assert.deepEqual(requests(from), []);
});

test('a content script cannot speak for the panel', async () => {
  const page = await stage.browser.newPage();
  const url = `${stage.origin.replace('127.0.0.1', 'localhost')}/impostor`; // no plugin's, so without a bridge, which hides chrome
  await page.goto(url);
  const from = stage.relay.got.length;
  // As text: tsx would write a helper of its own into functions.
  const heard: unknown = await (
    await stage.worker()
  ).evaluate(`chrome.tabs.query({ url: '${url.replace(/:\d+/, '')}' }).then(([tab]) => chrome.scripting.executeScript({
    target: { tabId: tab.id },
    func: () => {
      const heard = [];
      const port = chrome.runtime.connect({ name: 'panel' });
      port.onMessage.addListener((message) => heard.push(message));
      port.postMessage({ type: 'request', id: 'x', method: 'PUT', path: '/api/v1/paused', body: {} });
      return new Promise((resolve) => port.onDisconnect.addListener(() => resolve(heard)));
    },
  })).then(([{ result }]) => result)`);
  assert.deepEqual(heard, [], 'it was told nothing before it was turned away');
  assert.deepEqual(requests(from), []);
});

test('a web page cannot show the panel inside of itself', async () => {
  const page = await stage.browser.newPage();
  await page.goto(`${stage.origin}/framing`);
  const url = `chrome-extension://${stage.relay.extensionId}/panel.html`;
  const from = stage.relay.got.length;
  await page.evaluate((src) => {
    const frame = document.createElement('iframe');
    frame.src = src;
    const done = new Promise((resolve) => frame.addEventListener('load', resolve));
    document.body.append(frame);
    return done;
  }, url);
  assert.ok(!page.frames().some((frame) => frame.url().startsWith(url)), 'it was loaded');
  assert.deepEqual(requests(from), []);
});

test('another page of the extension cannot speak for the panel', async () => {
  for (const file of ['manifest.json', 'panel.css', 'panel.html?panel.html']) {
    const page = await stage.openPanel(file);
    await openPort(page);
    await hear(page, 'turned away');
    await page.close();
  }
});

test('the person names the profile, and the relay hears it at once and ever after', async () => {
  const panel = await stage.openPanel();
  await openPort(panel);
  const from = stage.relay.got.length;
  await say(panel, { type: 'name', label: '  Work\u202e \n account ' });
  const { frame } = await stage.relay.wait(({ type }) => type === 'profile', from);
  assert.equal(frame.label, 'Work account');
  await panel.waitForFunction(() =>
    Reflect.get(globalThis, 'heard').some(
      (message: { profile?: { label: string } }) => message.profile?.label === 'Work account',
    ),
  );
  await say(panel, { type: 'name', label: ' \n' });
  stage.relay.socket?.terminate();
  const hello = await stage.relay.wait(({ type }) => type === 'hello', from);
  assert.match(JSON.stringify(hello.frame.profile), /"label":"Work account"/);
});

test('an older relay is asked nothing, and the panel is told why', async () => {
  await stage.close();
  stage = await setStage(undefined, { protocol: 1 });
  const panel = await stage.openPanel();
  await openPort(panel);
  await say(panel, { type: 'request', id: 'mine', method: 'GET', path: '/api/v1/status' });
  assert.match(JSON.stringify(await hear(panel, 'response')), /too old for this panel/);
  await say(panel, { type: 'name', label: 'Work' });
  const { tabId } = await stage.open('/old');
  assert.equal((await stage.call(tabId, 'iso.echo', { a: 1 }).outcome).payload, '{"a":1}');
  assert.deepEqual(
    stage.relay.got.filter(({ frame }) => frame.type === 'request' || frame.type === 'profile'),
    [],
  );
});
