import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Reach } from '../src/worker/documents/reach.ts';

type Listener = (...told: unknown[]) => void;

let listeners: Map<string, Listener>;
let kept: Record<string, unknown>;
let before: {
  id: number;
  discarded?: boolean;
  frames: { frameId: number; processId: number; url: string }[];
}[];
let reach: Reach;

const on = (name: string) => ({ addListener: (listener: Listener) => listeners.set(name, listener) });
const store = {
  get: async () => structuredClone(kept),
  set: async (items: Record<string, unknown>) => void Object.assign(kept, structuredClone(items)),
  remove: async () => {},
};

Reflect.set(globalThis, 'chrome', {
  tabs: {
    get onCreated() {
      return on('created');
    },
    get onRemoved() {
      return on('removed');
    },
    get onReplaced() {
      return on('replaced');
    },
    query: async () => before,
  },
  webNavigation: {
    get onCreatedNavigationTarget() {
      return on('target');
    },
    get onCommitted() {
      return on('committed');
    },
    getFrame: async () => null,
    getAllFrames: async ({ tabId }: { tabId: number }) =>
      before.find(({ id }) => id === tabId)?.frames ?? null,
  },
});

const tell = (name: string, ...told: unknown[]) => listeners.get(name)?.(...told);
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

/** A tab that the person opens. */
const made = (id: number, openerTabId?: number) => tell('created', { id, openerTabId });
const opened = (tabId: number, sourceTabId: number, sourceProcessId: number) =>
  tell('target', { tabId, sourceTabId, sourceProcessId });
const closed = (tabId: number) => tell('removed', tabId);
/** A document of a tab, in a process. */
function shows(tabId: number, documentId: string, processId: number, url = 'https://a.example/'): void {
  tell('committed', { tabId, documentId, processId, url, frameType: 'outermost_frame', frameId: 0 });
}
const holds = (tabId: number, processId: number) =>
  tell('committed', {
    tabId,
    documentId: 'frame',
    processId,
    url: 'https://a.example/',
    frameType: 'sub_frame',
  });

/** The worker starts, with what its predecessors kept. */
async function start(): Promise<void> {
  listeners = new Map();
  reach = new Reach(store);
  await turn();
}

beforeEach(async () => {
  kept = {};
  before = [];
  await start();
});

const reached = (tabId: number, documentId: string) => reach.reached(tabId, 0, documentId);

test('a tab that nothing hangs together with is clean, whoever shares its process', async () => {
  made(1);
  shows(1, 'A', 10);
  made(2);
  shows(2, 'B', 10);
  assert.equal(await reached(1, 'A'), false);
  assert.equal(await reached(2, 'B'), false);
});

test('a frame, and a document nobody told of, count as reached', async () => {
  made(1);
  shows(1, 'A', 10);
  assert.equal(await reach.reached(1, 5, 'frame'), true);
  assert.equal(await reached(1, 'B'), true);
  assert.equal(await reached(7, 'A'), true);
});

test('what a page opened in its own process is reached, and so are its later documents while the two live', async () => {
  made(1);
  shows(1, 'A', 10);
  opened(2, 1, 10);
  made(2, 1);
  shows(2, 'B', 10);
  assert.equal(await reached(2, 'B'), true);
  shows(2, 'C', 10);
  assert.equal(await reached(2, 'C'), true);
  shows(1, 'D', 10);
  assert.equal(await reached(1, 'D'), true);
  closed(1);
  assert.equal(await reached(2, 'C'), true); // it was there when that began
  shows(2, 'E', 10);
  assert.equal(await reached(2, 'E'), false);
});

test('who opened a window and closed before its page came could prepare it', async () => {
  made(1);
  shows(1, 'A', 10);
  made(2, 1); // in the order in which Chrome tells it
  opened(2, 1, 10);
  closed(1);
  shows(2, 'blank', 10, 'about:blank');
  shows(2, 'B', 10);
  assert.equal(await reached(2, 'B'), true);
  shows(2, 'C', 10);
  assert.equal(await reached(2, 'C'), false);
});

test('a window in a process of its own is clean, until one of its relatives comes there', async () => {
  made(1);
  shows(1, 'A', 10);
  opened(2, 1, 10);
  shows(2, 'B', 11);
  assert.equal(await reached(2, 'B'), false);
  holds(1, 11);
  shows(2, 'C', 11);
  assert.equal(await reached(2, 'C'), true);
});

test('a frame of a relative that came and went meanwhile counts', async () => {
  made(1);
  shows(1, 'A', 10);
  opened(2, 1, 10);
  shows(2, 'B', 11);
  holds(1, 11);
  closed(1);
  assert.equal(await reached(2, 'B'), true);
});

test('what opens the windows is reached by those that have no page yet', async () => {
  made(1);
  shows(1, 'A', 10);
  opened(2, 1, 10);
  shows(1, 'B', 10);
  assert.equal(await reached(1, 'B'), true);
  closed(2);
  shows(1, 'C', 10);
  assert.equal(await reached(1, 'C'), false);
});

test('all that hangs together does, also by way of others', async () => {
  made(1);
  shows(1, 'A', 10);
  opened(2, 1, 10);
  opened(3, 1, 10);
  shows(2, 'B', 10);
  shows(3, 'C', 10);
  closed(1);
  shows(3, 'D', 10);
  assert.equal(await reached(3, 'D'), true);
});

test('a document that comes back is what it was when it began', async () => {
  made(1);
  shows(1, 'A', 10);
  opened(2, 1, 10);
  shows(1, 'B', 10);
  closed(2);
  shows(1, 'C', 10);
  shows(1, 'B', 10);
  assert.equal(await reached(1, 'B'), true);
  shows(1, 'C', 10);
  assert.equal(await reached(1, 'C'), false);
});

test('a worker that starts again knows what its predecessor knew', async () => {
  made(1);
  shows(1, 'A', 10);
  opened(2, 1, 10);
  shows(2, 'B', 10);
  await turn();
  await start();
  closed(1);
  assert.equal(await reached(2, 'B'), true);
  shows(2, 'C', 10);
  assert.equal(await reached(2, 'C'), false);
});

test('tabs from before may hang together with every other; their process says whether they can reach it', async () => {
  kept = {};
  before = [
    { id: 1, frames: [{ frameId: 0, processId: 10, url: 'https://a.example/' }] },
    { id: 2, frames: [{ frameId: 0, processId: 11, url: 'https://a.example/' }] },
    { id: 3, discarded: true, frames: [] },
  ];
  await start();
  shows(1, 'A', 10);
  assert.equal(await reached(1, 'A'), false);
  shows(2, 'B', 10);
  shows(1, 'C', 10);
  assert.equal(await reached(1, 'C'), true);
  made(4);
  shows(4, 'D', 10);
  assert.equal(await reached(4, 'D'), true);
});

test('a tab from before whose process nobody knows may be in any, until it shows where it is', async () => {
  kept = {};
  before = [
    { id: 1, frames: [{ frameId: 0, processId: 10, url: 'https://a.example/' }] },
    { id: 2, frames: [] },
  ];
  await start();
  shows(1, 'A', 10);
  assert.equal(await reached(1, 'A'), true);
  shows(2, 'B', 12);
  shows(1, 'C', 10);
  assert.equal(await reached(1, 'C'), false);
});

test('a tab that gets another id stays what it is', async () => {
  made(1);
  shows(1, 'A', 10);
  opened(2, 1, 10);
  shows(2, 'B', 10);
  tell('replaced', 8, 2);
  assert.equal(await reached(8, 'B'), true);
  shows(1, 'C', 10);
  assert.equal(await reached(1, 'C'), true);
  closed(1);
  shows(8, 'D', 10);
  assert.equal(await reached(8, 'D'), false);
});

test('nothing of closed tabs is kept that does not matter any more', async () => {
  made(1);
  shows(1, 'A', 10);
  for (let n = 2; n < 100; n++) {
    opened(n, 1, 10);
    shows(n, `P${n}`, 10);
    closed(n);
    shows(1, `D${n}`, 10);
  }
  made(200);
  closed(200);
  await turn();
  assert.ok(JSON.stringify(kept).length < 8000, JSON.stringify(kept));
});
