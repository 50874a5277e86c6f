import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Tabs } from '../src/worker/tabs/tabs.ts';

type Listener = (...given: unknown[]) => void;

const heard = new Map<string, Listener>();
const event = (name: string) => ({ addListener: (listener: Listener) => void heard.set(name, listener) });
let answer: (tab: unknown) => void = () => {};
const lastFocused = 1;

Reflect.set(globalThis, 'chrome', {
  windows: {
    WINDOW_ID_NONE: -1,
    getLastFocused: async () => ({ id: lastFocused }),
    onFocusChanged: event('focus'),
    onRemoved: event('windowRemoved'),
  },
  tabs: {
    query: async () => [],
    get: () => new Promise<unknown>((resolve) => (answer = resolve)),
    ...Object.fromEntries(
      ['Created', 'Updated', 'Removed', 'Replaced', 'Attached', 'Activated'].map((name) => [
        `on${name}`,
        event(name),
      ]),
    ),
  },
});

test('a tab that was closed does not come back by what was asked before', async () => {
  const told: string[] = [];
  const tabs = new Tabs();
  tabs.listen({
    changed: ({ id, url }) => told.push(`${id} ${url}`),
    closed: (id) => told.push(`${id} closed`),
    removed: () => {},
    loading: () => {},
    frozen: () => {},
  });
  await tabs.loaded;
  const tab = { id: 7, windowId: 1, url: 'https://a.example/', title: 'A', active: true, status: 'complete' };
  heard.get('Created')?.(tab);
  const looked = tabs.look(7);
  heard.get('Removed')?.(7);
  heard.get('Updated')?.(7, { status: 'complete' }, tab);
  answer(tab);
  await looked;
  assert.deepEqual(told, ['7 https://a.example/', '7 closed']);
  assert.equal(tabs.get(7), undefined);
});

test('when the window in front is closed, the one behind it is in front, though Chrome does not say so', async () => {
  const tabs = new Tabs();
  await tabs.loaded;
  const tab = { url: 'https://a.example/', title: 'A', active: true, status: 'complete' };
  heard.get('Created')?.({ ...tab, id: 1, windowId: 1 });
  heard.get('Created')?.({ ...tab, id: 2, windowId: 2 });
  heard.get('focus')?.(2);
  assert.deepEqual([tabs.get(1)?.focused, tabs.get(2)?.focused], [false, true]);
  heard.get('windowRemoved')?.(3); // which was not in front
  await Promise.resolve();
  assert.equal(tabs.get(2)?.focused, true);
  heard.get('Removed')?.(2);
  heard.get('windowRemoved')?.(2);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(tabs.get(1)?.focused, true);
});
