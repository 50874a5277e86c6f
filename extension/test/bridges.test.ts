import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { Bridges } from '../src/worker/documents/bridges.ts';

class Event<T extends unknown[]> {
  readonly #listeners: ((...args: T) => void)[] = [];

  addListener = (listener: (...args: T) => void): void => {
    this.#listeners.push(listener);
  };

  fire(...args: T): void {
    for (const listener of this.#listeners) listener(...args);
  }
}

const epoch = 'e'.repeat(32);
const hello = {
  type: 'hello',
  epoch: '',
  url: 'http://demo.test/',
  late: true,
  reached: false,
  plugins: [],
  running: [],
};

let bridges: Bridges;
let frames: Set<string>; // that a bridge was put into

interface Guise {
  deaf?: boolean; // what the worker sends arrives nowhere
  url?: string; // of the document, as Chrome knows it
  frameId?: number;
  says?: string; // the address it says it has
  plugins?: { name: string; hash: string; main: boolean }[];
}

/** A content script of tab 1 that connects. */
function connect(guise: Guise = {}) {
  const { deaf = false, url = hello.url, frameId = 0, says = hello.url, plugins = [] } = guise;
  const sent: unknown[] = [];
  const onMessage = new Event<[unknown]>();
  const onDisconnect = new Event<[]>();
  const sender = { id: chrome.runtime.id, tab: { id: 1 }, documentId: 'D', frameId, url };
  const postMessage = (message: unknown) => {
    sent.push(message);
    if (!deaf && JSON.stringify(message) === JSON.stringify({ type: 'epoch', epoch, reached: false }))
      onMessage.fire({ type: 'here' });
  };
  const port = { sender, onMessage, onDisconnect, postMessage, disconnect: () => onDisconnect.fire() };
  Reflect.apply(bridges.add, bridges, [port]);
  onMessage.fire({ ...hello, url: says, plugins });
  return { ...port, sent };
}

beforeEach(async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  Object.defineProperty(globalThis, 'chrome', {
    configurable: true,
    value: { runtime: { id: 'a'.repeat(32) } },
  });
  frames = new Set();
  const loaded = Promise.resolve();
  bridges = new Bridges(
    {
      loaded,
      epoch,
      recordFrame: async (documentId) => void frames.add(documentId),
      hasFrame: (documentId) => frames.has(documentId),
    },
    { reached: async () => true },
  );
  await loaded;
});

afterEach(() => {
  mock.timers.reset();
  Reflect.deleteProperty(globalThis, 'chrome');
});

test('a bridge that does not hear the worker is not waited for, and makes room for one that does', async () => {
  const wanted = bridges.when((one) => one.tabId === 1, 1000);
  connect({ deaf: true });
  assert.equal(bridges.top(1), undefined);
  assert.deepEqual(bridges.of(1), []);
  connect();
  assert.equal(await wanted, bridges.top(1));
  assert.equal(bridges.of(1).length, 1);
});

test('a deaf bridge that connects later does not take the place of a good one', () => {
  connect();
  const good = bridges.top(1);
  assert.ok(good);
  connect({ deaf: true }).disconnect();
  assert.equal(bridges.top(1), good);
});

test('a bridge leaves with its port', () => {
  const port = connect();
  port.disconnect();
  assert.equal(bridges.top(1), undefined);
});

test('an adapter of a plugin that is gone or changed is unloaded once, and begins anew when it is back', () => {
  const about = (name: string) => ({ name, hash: 'first', main: true });
  const { sent } = connect({ plugins: ['kept', 'changed', 'gone'].map(about) });
  const bridge = bridges.top(1);
  assert.ok(bridge);
  const unloaded = () => sent.filter((message) => JSON.stringify(message).includes('"unload"'));
  const has = (name: string) => bridge.has({ name, hash: 'first', world: 'main' });
  const installed = new Map([
    ['kept', 'first'],
    ['changed', 'second'],
  ]);
  for (let time = 0; time < 2; time++) bridge.unloadOutdated((name) => installed.get(name));
  assert.deepEqual(unloaded(), [
    { type: 'unload', plugin: 'changed', hash: 'first' },
    { type: 'unload', plugin: 'gone', hash: 'first' },
  ]);
  assert.ok(has('changed'), 'a call of the version before may be on its way');

  bridge.unloadOutdated(() => 'first');
  assert.deepEqual(['kept', 'changed', 'gone'].map(has), [true, false, false]);
  assert.equal(unloaded().length, 2);
});

test('a second bridge of a document is turned away, whatever it says', () => {
  connect();
  const good = bridges.top(1);
  assert.ok(good);
  connect();
  assert.equal(bridges.top(1), good);
  assert.deepEqual(bridges.of(1), [good]);
});

test('a document of no website has no bridge', () => {
  for (const url of ['about:blank', 'about:srcdoc', 'blob:http://demo.test/x', 'data:text/html,', '']) {
    connect({ url });
    assert.equal(bridges.top(1), undefined, url);
  }
});

test('a frame that its page has written has a bridge only where one was put into it', async () => {
  for (const url of ['about:blank', 'about:srcdoc', 'blob:http://demo.test/x', 'data:text/html,']) {
    frames.clear();
    connect({ url, frameId: 2 });
    assert.deepEqual(bridges.of(1), [], url);
    await bridges.allowFrame('D');
    const port = connect({ url, frameId: 2 });
    assert.equal(bridges.of(1).length, 1, url);
    port.disconnect();
  }
});

test('a bridge may say another path, never another origin', () => {
  connect({ says: 'http://other.test/' });
  assert.equal(bridges.top(1)?.url, 'http://demo.test/');
  bridges.top(1)?.updateUrl('http://demo.test/elsewhere');
  assert.equal(bridges.top(1)?.url, 'http://demo.test/elsewhere');
});

test('why a port broke is read: Chrome lists what nobody reads as an error of the extension', () => {
  let reads = 0;
  const lastError = {
    configurable: true,
    get() {
      reads += 1;
      return { message: 'The page keeping the extension port is moved into back/forward cache' };
    },
  };
  Object.defineProperty(chrome.runtime, 'lastError', lastError);
  connect().disconnect();
  assert.equal(reads, 1);
});
