import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Acts } from '../src/capabilities/browser/acts.ts';
import type { ToBridge } from '../src/shared/bridge-messages.ts';
import { Bridge, Bridges } from '../src/worker/documents/bridges.ts';

const deaf = { addListener() {}, removeListener() {} };
const address = 'https://a.test/next';
const tabId = 1; // that acts, and is in front

/** What an act is told of tabs that are created meanwhile, and which tabs were brought to the front. */
async function during(created: readonly object[]): Promise<{ opened: unknown; front: number[] }> {
  let hear: (tab: object) => void = () => {};
  const front: number[] = [];
  const onCreated = { ...deaf, addListener: (listener: typeof hear) => (hear = listener) };
  Reflect.set(globalThis, 'chrome', {
    webRequest: { onBeforeRequest: deaf, onCompleted: deaf, onErrorOccurred: deaf },
    webNavigation: { onErrorOccurred: deaf },
    tabs: {
      onCreated,
      get: async (id: number) => ({ id, windowId: 1, url: address }),
      query: async () => [{ id: tabId }],
      update: async (id: number) => void front.push(id),
    },
  });
  const sent: ToBridge[] = [];
  const event = {
    ...deaf,
    hasListener: () => false,
    hasListeners: () => false,
    addRules() {},
    getRules() {},
  };
  const port = {
    name: 'bridge',
    disconnect() {},
    postMessage: (message: ToBridge) => sent.push(message),
    onDisconnect: { ...event, removeRules() {} },
    onMessage: { ...event, removeRules() {} },
  };
  const bridge = new Bridge(port, tabId, 'D', 0);
  const records = {
    loaded: Promise.resolve(),
    epoch: 'e',
    recordFrame: async () => {},
    hasFrame: () => true,
  };
  const acts = new Acts(new Bridges(records, { reached: async () => true }));
  acts.expect(bridge, () => 'open');
  acts.begin(bridge, 1, 'dismiss');
  for (const tab of created) hear({ openerTabId: tabId, active: true, ...tab });
  await acts.end(bridge, 1);
  const news = sent.find((message) => message.type === 'news');
  return { opened: news?.type === 'news' ? news.news.opened : 'nothing was told', front };
}

test('a tab that a page opens goes behind, and the agent hears of it', async () => {
  for (const pendingUrl of [address, 'about:blank', 'blob:https://a.test/1', ''])
    assert.deepEqual(await during([{ id: 2, url: '', pendingUrl }]), {
      opened: [{ tabId: 2, url: address }],
      front: [tabId],
    });
});

test('a new tab that the person opens meanwhile stays in front, and is no news of the act', async () => {
  for (const tab of [
    { id: 2, url: '', pendingUrl: 'chrome://newtab/' },
    { id: 2, url: '', pendingUrl: 'edge://newtab/' },
    { id: 2, url: 'chrome://new-tab-page/' },
  ])
    assert.deepEqual(await during([tab]), { opened: undefined, front: [] });
});
