import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { Recorder } from '../src/capabilities/recording/recorder.ts';
import { Bridge } from '../src/worker/documents/bridges.ts';

const origin = 'https://tea.example';
const tabId = 7;

class Heard<T> {
  readonly listeners = new Set<(details: T) => unknown>();
  addListener = (listener: (details: T) => unknown): void => void this.listeners.add(listener);
  removeListener = (listener: (details: T) => unknown): void => void this.listeners.delete(listener);

  fire(details: T): void {
    for (const listener of this.listeners) listener(details);
  }
}

let began: Heard<object>;
let committed: Heard<object>;
let badge: string;
let sent: unknown[];
let bridge: Bridge;
let recorder: Recorder;

const request = (url: string, text = '') =>
  began.fire({
    tabId,
    requestId: url,
    method: 'POST',
    url,
    type: 'xmlhttprequest',
    requestBody: { raw: [{ bytes: new TextEncoder().encode(text) }] },
  });

async function told(): Promise<{ events: { url?: string }[]; others: object; ended?: string }> {
  return JSON.parse(await recorder.read(tabId));
}

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] });
  began = new Heard();
  committed = new Heard();
  badge = '';
  sent = [];
  Object.defineProperty(globalThis, 'chrome', {
    configurable: true,
    value: {
      tabs: {
        get: async () => ({ url: `${origin}/list` }),
        reload: async () => {},
        query: async () => [{ id: tabId }, {}],
      },
      action: {
        getBadgeText: async () => badge,
        setBadgeText: async ({ text = '' }) => {
          badge = text;
        },
      },
      scripting: { executeScript: async () => [] },
      webNavigation: { onCommitted: committed },
      webRequest: {
        onBeforeRequest: began,
        onBeforeSendHeaders: new Heard(),
        onBeforeRedirect: new Heard(),
        onCompleted: new Heard(),
        onErrorOccurred: new Heard(),
      },
    },
  });
  const port = { postMessage: (message: unknown) => void sent.push(message) };
  bridge = Reflect.construct(Bridge, [port, tabId, 'D', 0]);
  const bridges = { top: () => bridge };
  recorder = new Recorder({ bridges, injector: { ensureBridge: async () => bridge } });
});

afterEach(() => {
  mock.timers.reset();
  Reflect.deleteProperty(globalThis, 'chrome');
});

test('a recording that nobody reads ends after 30 s, and takes its signs away', async () => {
  await recorder.start(tabId, origin, 3_600_000, true);
  assert.equal(badge, 'REC');
  mock.timers.tick(29_999);
  assert.equal(began.listeners.size, 1);
  mock.timers.tick(1);
  assert.equal(began.listeners.size, 0);
  assert.equal(badge, '');
  assert.deepEqual(sent, [{ type: 'record', on: false }]);
  assert.equal((await told()).ended, 'abandoned');
});

test('a recording ends at 16 MiB, with what came before', async () => {
  await recorder.start(tabId, origin, 3_600_000, true);
  const text = 'x'.repeat(250 * 1024);
  for (let n = 0; n < 70; n++) request(`${origin}/${n}`, text);
  const { events, ended } = await told();
  assert.equal(ended, 'size');
  assert.equal(events.length, 65); // with what else is told of each, 66 would be more than 16 MiB
  assert.equal(began.listeners.size, 0);
});

test('a recording ends with its time', async () => {
  await recorder.start(tabId, origin, 5000, true);
  mock.timers.tick(5000);
  assert.equal((await told()).ended, 'time');
});

test('only the agreed site is told of, and another one ends the recording', async () => {
  await recorder.start(tabId, origin, 3_600_000, true);
  request('https://other.example/secret');
  request(`${origin}/api`);
  request('https://tea.example.evil/secret');
  const { events, others } = await told();
  assert.deepEqual(
    events.map(({ url }) => url),
    [`${origin}/api`],
  );
  assert.deepEqual(others, { 'https://other.example': 1, 'https://tea.example.evil': 1 });
  committed.fire({ tabId, frameId: 0, url: 'http://tea.example/' });
  assert.equal((await told()).ended, 'left');
  await assert.rejects(recorder.start(tabId, 'https://other.example', 1000, true), /does not show/);
});

test('a document that still believes to be recorded is told otherwise', () => {
  recorder.ready(bridge);
  assert.deepEqual(sent, [{ type: 'record', on: false }]);
});

test('a badge that an earlier worker left is taken down', async () => {
  badge = 'REC';
  const begun = new Recorder({
    bridges: { top: () => bridge },
    injector: { ensureBridge: async () => bridge },
  });
  await new Promise(setImmediate);
  assert.equal(badge, '');
  await begun.start(tabId, origin, 60_000, true);
  assert.equal(badge, 'REC');
});

test('a recording ends when the relay is lost, and nothing says any more that it runs', async () => {
  await recorder.start(tabId, origin, 60_000, true);
  request(`${origin}/api`);
  recorder.lost();
  assert.equal(badge, '');
  assert.deepEqual(sent.at(-1), { type: 'record', on: false });
  const { events, ended } = await told();
  assert.deepEqual([events.length, ended], [1, 'lost']);
  assert.equal(began.listeners.size, 0);
});
