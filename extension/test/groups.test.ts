import assert from 'node:assert/strict';
import { beforeEach, test } from 'node:test';
import { Groups, type Wanted } from '../src/worker/tabs/groups.ts';

interface FakeTab {
  id: number;
  windowId: number;
  groupId: number;
  pinned: boolean;
}

let tabs: Map<number, FakeTab>;
let named: Map<number, string>;
let kept: Record<string, unknown>;
let allowed: boolean;
let permitted: (permissions: { permissions?: string[] }) => void;
let asked: string[];
let nextGroup: number;

function find(tabId: number): FakeTab {
  const tab = tabs.get(tabId);
  if (tab === undefined) throw new Error(`No tab with id: ${tabId}.`);
  return tab;
}

Reflect.set(globalThis, 'chrome', {
  permissions: {
    contains: async () => allowed,
    onAdded: {
      addListener: (listener: typeof permitted) => {
        permitted = listener;
      },
    },
  },
  tabs: {
    get: async (tabId: number) => ({ ...find(tabId) }),
    group: async (options: { tabIds: number[]; groupId?: number }) => {
      const groupId = options.groupId ?? nextGroup++;
      asked.push(`group ${options.tabIds} in ${groupId}`);
      for (const tabId of options.tabIds) find(tabId).groupId = groupId;
      return groupId;
    },
    ungroup: async (tabId: number) => {
      asked.push(`ungroup ${tabId}`);
      find(tabId).groupId = -1;
    },
  },
  tabGroups: {
    update: async (groupId: number, { title, color }: { title: string; color: string }) => {
      named.set(groupId, `${title} ${color}`);
    },
  },
});

const store = {
  get: async (key: string) => ({ [key]: kept[key] }),
  set: async (items: Record<string, unknown>) => void Object.assign(kept, items),
};

const put = (id: number, windowId = 1, groupId = -1, pinned = false) =>
  tabs.set(id, { id, windowId, groupId, pinned });
const codex = (...ids: number[]): Wanted => ({ title: 'codex', color: 'blue', tabs: ids });
const group = (id: number) => named.get(tabs.get(id)?.groupId ?? -1);

beforeEach(() => {
  tabs = new Map();
  named = new Map([[50, 'mine grey']]);
  kept = {};
  allowed = true;
  asked = [];
  nextGroup = 60;
});

test('tabs go into one group for each window, and leave it', async () => {
  for (const id of [1, 2]) put(id);
  put(3, 2);
  const groups = new Groups(store);
  await groups.show([codex(1, 2, 3)]);
  assert.equal(tabs.get(1)?.groupId, tabs.get(2)?.groupId);
  assert.notEqual(tabs.get(1)?.groupId, tabs.get(3)?.groupId);
  assert.equal(group(3), 'codex blue');
  await groups.show([codex(2)]);
  assert.deepEqual([group(1), group(2), group(3)], [undefined, 'codex blue', undefined]);
});

test('what the person has done stays: their groups, pinned tabs, tabs they took out', async () => {
  put(1, 1, 50);
  put(2, 1, -1, true);
  put(3);
  const groups = new Groups(store);
  await groups.show([codex(1, 2, 3, 99)]);
  assert.deepEqual(asked, ['group 3 in 60']);
  find(3).groupId = -1;
  await groups.show([codex(1, 2, 3)]);
  find(3).groupId = 50;
  await groups.show([]);
  assert.deepEqual(asked, ['group 3 in 60']);
  assert.equal(group(1), 'mine grey');
});

test('the next worker knows which groups were made, also under another id of the tab', async () => {
  put(1);
  put(2);
  await new Groups(store).show([codex(1, 2)]);
  tabs.delete(1);
  put(7, 1, 60);
  const groups = new Groups(store);
  await groups.show([codex(2, 7)]);
  assert.deepEqual(asked, ['group 1 in 60', 'group 2 in 60']);
  await groups.show([]);
  assert.deepEqual(asked.slice(2), ['ungroup 2', 'ungroup 7']);
});

test('without the permission nothing happens, and with it what was wanted last', async () => {
  put(1);
  allowed = false;
  const groups = new Groups(store);
  await groups.show([codex(1)]);
  assert.deepEqual(asked, []);
  allowed = true;
  permitted({ permissions: ['notifications'] });
  assert.deepEqual(asked, []);
  permitted({ permissions: ['tabGroups'] });
  await groups.show([codex(1)]);
  assert.equal(group(1), 'codex blue');
  allowed = false;
  await groups.show([codex(1)]);
  assert.equal(group(1), undefined);
});
