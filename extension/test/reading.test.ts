import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Consoles } from '../src/capabilities/resources/consoles.ts';
import { cut, readTab } from '../src/capabilities/resources/reading.ts';
import type { FromBridge } from '../src/shared/bridge-messages.ts';
import { Bridge } from '../src/worker/documents/bridges.ts';
import { inTime, toUnreadable, Unreadable } from '../src/worker/documents/unreadable.ts';

const page = { url: 'https://a.example/', origin: 'https://a.example', title: 'A', contentType: 'text/html' };
const frame = (text: string, start = 0, total = text.length) => ({ ...page, text, start, total });

test('the frames of a page are cut as if they were one text', () => {
  const texts = (from: number, max: number) => {
    const top = 'abcdef'.slice(from, from + max);
    const frames = [
      frame(top, from, 6),
      frame('ghi'.slice(0, from + max)),
      frame('jklm'.slice(0, from + max)),
    ];
    return cut(frames, from, max).map(({ text }) => text);
  };
  assert.deepEqual(texts(0, 100), ['abcdef', 'ghi', 'jklm']);
  assert.deepEqual(texts(0, 4), ['abcd', '', '']);
  assert.deepEqual(texts(4, 4), ['ef', 'gh', '']);
  assert.deepEqual(texts(6, 3), ['', 'ghi', '']);
  assert.deepEqual(texts(8, 3), ['', 'i', 'jk']);
  assert.deepEqual(texts(50, 3), ['', '', '']);
});

test('what Chrome says becomes a code and a sentence without an address', () => {
  const sayings: [string, string][] = [
    ['No tab with id: 7.', 'TAB_NOT_FOUND'],
    ['Frame with ID 0 is showing error page', 'INJECTION_FAILED'],
    ['The frame was removed.', 'TAB_CHANGED'],
    ['No frame with id 0 in tab with id 7', 'TAB_CHANGED'],
    ['The extensions gallery cannot be scripted.', 'INJECTION_FAILED'],
    ['Cannot access contents of url "https://a.example/?token=secret".', 'INJECTION_FAILED'],
    ['This page cannot be scripted due to an ExtensionsSettings policy.', 'INJECTION_FAILED'],
    ['Something new about https://a.example/?token=secret', 'INJECTION_FAILED'],
  ];
  for (const [saying, code] of sayings) {
    const why = toUnreadable(new Error(saying));
    assert.equal(why.code, code, saying);
    assert.doesNotMatch(why.message, /secret|http/);
  }
  const own = new Unreadable('TAB_CHANGED', 'own words');
  assert.equal(toUnreadable(own), own);
});

const blocked = 'This page cannot be scripted due to an ExtensionsSettings policy.';

/** A tab with these documents; a script gets results, and into those that are refused it does not get. */
const injected = (results: unknown[], documents: object[] = [], refused: Record<string, string> = {}) => {
  Reflect.set(globalThis, 'chrome', {
    scripting: {
      executeScript: async ({ target }: { target: { documentIds?: string[] } }) => {
        const why = refused[target.documentIds?.[0] ?? ''];
        if (why !== undefined) throw new Error(why);
        return results;
      },
    },
    webNavigation: { getAllFrames: async () => documents },
  });
};

const known = { covers: () => true, origin: () => undefined };

test('the top document comes first, and frames without text are left out', async () => {
  injected([
    { frameId: 9, result: frame('of the frame') },
    { frameId: 0, result: frame('') },
    { frameId: 4, result: frame('') },
    { frameId: 5, result: null },
  ]);
  const { frames } = JSON.parse(await readTab({ tabId: 1, kind: 'text', from: 0, max: 100 }, known));
  assert.deepEqual(
    frames.map(({ text }: { text: string }) => text),
    ['', 'of the frame'],
  );
  injected([]);
  await assert.rejects(readTab({ tabId: 1, kind: 'html', from: 0, max: 1 }, known), { code: 'TAB_CHANGED' });
});

test('frames that the policy of the browser closes are told in their place, others without words are not', async () => {
  const document = (frameId: number, documentId: string, url: string) => ({
    frameId,
    parentFrameId: frameId === 0 ? -1 : 0,
    documentId,
    url,
  });
  injected(
    [
      { frameId: 0, documentId: 'top', result: frame('of the page') },
      { frameId: 9, documentId: 'last', result: frame('of the frame') },
    ],
    [
      document(0, 'top', 'https://a.example/'),
      document(4, 'closed', 'https://b.example/path?token=secret'),
      document(5, 'broken', 'https://c.example/'),
      document(9, 'last', 'https://a.example/last'),
    ],
    { closed: blocked, broken: 'Frame with ID 5 is showing error page' },
  );
  const { frames } = JSON.parse(await readTab({ tabId: 1, kind: 'text', from: 0, max: 200 }, known));
  assert.deepEqual(
    frames.map(({ text, url }: { text: string; url: string }) => (text.startsWith('(') ? [text, url] : text)),
    [
      'of the page',
      [
        '(frame https://b.example not readable: closed to extensions by the policy of this browser)',
        'https://b.example',
      ],
      'of the frame',
    ],
  );
});

test('a page that says nothing is given up', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const stuck = assert.rejects(inTime(new Promise(() => {})), { code: 'TAB_UNRESPONSIVE' });
  mock.timers.tick(20_000);
  await stuck;
  mock.timers.reset();
});

/** Consoles of a browser with one tab, whose bridge answers at once. */
function consolesOf(kept: Record<string, unknown> = {}, since = 1000) {
  const told: unknown[] = [];
  const asked: unknown[] = [];
  const stored: Record<string, unknown>[] = [];
  const nothing = { addListener() {} };
  const port = {
    name: '',
    disconnect() {},
    onMessage: nothing,
    onDisconnect: nothing,
    postMessage(message: { type: string; id: string }) {
      asked.push(message.type);
      const { id } = message;
      const lines: FromBridge = { type: 'consoleLines', id, url: page.url, since, lines: [], dropped: 0 };
      queueMicrotask(() => consoles.hear(bridge, lines));
    },
  };
  const bridge: Bridge = Reflect.construct(Bridge, [port, 1, 'D', 0]);
  const consoles = new Consoles({
    bridges: { top: () => undefined },
    injector: {
      ensureBridge: async () => {
        asked.push('inject');
        return bridge;
      },
    },
    store: { get: async () => kept, set: async (items) => void stored.push(items), remove: async () => {} },
    send: (one) => told.push(one),
  });
  return { consoles, bridge, told, asked, stored };
}

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

test('a console is told of only while it is held, and held anew in the next document', async () => {
  const { consoles, bridge, told, asked, stored } = consolesOf();
  consoles.hear(bridge, { type: 'consoleGrew' });
  consoles.ready(bridge);
  consoles.gone(bridge);
  await turn();
  assert.deepEqual([told, asked], [[], []]);

  const expected = { url: page.url, since: 1000, lines: [], dropped: 0 };
  assert.deepEqual(JSON.parse(await consoles.read(1, 60_000)), expected);
  assert.deepEqual(Object.keys(stored[0]?.consoles ?? {}), ['1']);
  consoles.hear(bridge, { type: 'consoleGrew' });
  assert.deepEqual(told, [{ type: 'console', tabId: 1 }]);

  mock.timers.enable({ apis: ['setTimeout'] });
  consoles.gone(bridge);
  mock.timers.tick(100);
  mock.timers.reset();
  assert.deepEqual(asked, ['inject', 'console', 'inject']);
  consoles.ready(bridge);
  await turn();
  assert.equal(told.length, 2);

  consoles.removed(1);
  consoles.hear(bridge, { type: 'consoleGrew' });
  assert.equal(told.length, 2);
});

test('a lease outlives the worker, and ends', async () => {
  const { consoles, bridge, told } = consolesOf({ consoles: { 1: Date.now() + 60_000, 2: 'nonsense' } });
  await turn();
  consoles.ready(bridge);
  await turn();
  assert.equal(told.length, 1);
  const over = consolesOf({ consoles: { 1: Date.now() - 1 } });
  await turn();
  over.consoles.ready(over.bridge);
  await turn();
  assert.equal(over.told.length, 0);
});

test('a console that cannot be seen is an error', async () => {
  const { consoles } = consolesOf({}, 0);
  await assert.rejects(consoles.read(1, 60_000), { code: 'INJECTION_FAILED' });
});
