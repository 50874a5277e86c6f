import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { commandsOf, runCommand } from '../src/worker/core/commands.ts';
import { Tabs } from '../src/worker/tabs/tabs.ts';

type TabEvent = (...of: unknown[]) => void;

let hear: Record<'created' | 'updated' | 'removed', TabEvent>;
const navigation = new Map<string, TabEvent>(); // who listens to chrome.webNavigation
let told: string[];
let answers: () => Promise<unknown>; // what the page says when it is asked whether it lives

const deaf = { addListener: () => {} };
const on = (name: keyof typeof hear) => ({
  addListener: (listener: TabEvent) => {
    hear[name] = listener;
  },
});

const onNavigation = (name: string) => ({
  addListener: (listener: TabEvent) => navigation.set(name, listener),
  removeListener: () => navigation.delete(name),
});
const navigate = (name: string, details: object = {}) =>
  navigation.get(name)?.({ tabId: 5, frameId: 0, ...details });

Reflect.set(globalThis, 'chrome', {
  webNavigation: {
    onBeforeNavigate: onNavigation('before'),
    onCommitted: onNavigation('committed'),
    onCompleted: onNavigation('completed'),
    onErrorOccurred: onNavigation('failed'),
    onHistoryStateUpdated: onNavigation('within'),
    onReferenceFragmentUpdated: onNavigation('within'),
  },
  tabs: {
    onCreated: on('created'),
    onUpdated: on('updated'),
    onRemoved: on('removed'),
    onReplaced: deaf,
    onAttached: deaf,
    onActivated: deaf,
    query: async () => [],
    create: async () => ({ id: 5, windowId: 1, url: '' }),
    remove: async (tabId: number) => void told.push(`remove ${tabId}`),
    reload: async (tabId: number) => {
      if (tabId !== 5 && tabId !== 7) throw new Error(`No tab with id: ${tabId}.`);
      told.push(`reload ${tabId}`);
    },
    get: async () => ({ frozen: true }),
    discard: async (tabId: number) => {
      told.push(`discard ${tabId}`);
      return { id: 5 };
    },
  },
  scripting: { executeScript: () => answers() },
  windows: {
    WINDOW_ID_NONE: -1,
    onFocusChanged: deaf,
    onRemoved: deaf,
    getLastFocused: async () => undefined,
  },
});
mock.timers.enable({ apis: ['setTimeout'] });

const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

function open() {
  const tabs = new Tabs();
  tabs.listen({
    changed: (tab) => told.push(`changed ${tab.id}`),
    closed: () => {},
    removed: () => {},
    loading: () => {},
    frozen: () => {},
  });
  const commands = new Map(
    commandsOf({
      shown: (tabId: number, waitMs: number) => tabs.shown(tabId, waitMs),
      reinject: async () => {},
      group: async () => {},
    }),
  );
  runCommand('tabs.create', { url: 'https://a.example/' }, commands).then((reply) =>
    told.push(`reply ${JSON.stringify(reply)}`),
  );
}

const reply = (of: string) => `reply {"ok":true,"result":{"tabId":5,"windowId":1,${of}}}`;
const refusal = (why: string) => `reply {"ok":false,"error":{"code":"PAGE_NOT_LOADED","message":"${why}"}}`;

beforeEach(() => {
  hear = { created: () => {}, updated: () => {}, removed: () => {} };
  told = [];
  answers = async () => [];
});

test('a frozen tab is known until it runs again, and a crashed one is told as not loaded', async () => {
  const frozen: number[] = [];
  const tabs = new Tabs();
  tabs.listen({
    changed: () => {},
    closed: () => {},
    removed: () => {},
    loading: () => {},
    frozen: (tabId) => frozen.push(tabId),
  });
  const shown = { id: 5, windowId: 1, url: 'https://a.example/' };
  hear.updated(5, { frozen: true }, { ...shown, frozen: true });
  hear.updated(5, { frozen: false }, { ...shown, frozen: false }); // it came out of the back/forward cache
  mock.timers.tick(10_000);
  assert.deepEqual([frozen, tabs.isFrozen(5)], [[], false]);
  hear.updated(5, { frozen: true }, { ...shown, frozen: true });
  tabs.runs(5); // a bridge has come
  mock.timers.tick(10_000);
  await turn();
  assert.deepEqual([frozen, tabs.isFrozen(5)], [[], false]);
  hear.updated(5, { frozen: true }, { ...shown, frozen: true });
  mock.timers.tick(10_000);
  await turn();
  assert.deepEqual([frozen, tabs.isFrozen(5)], [[5], true]);
  hear.updated(5, { frozen: false }, { ...shown, frozen: false });
  assert.deepEqual([frozen, tabs.isFrozen(5)], [[5], false]);
  assert.equal(tabs.get(5)?.discarded, false);
  hear.updated(5, { status: 'unloaded' }, { ...shown, discarded: false, status: 'unloaded' });
  assert.equal(tabs.get(5)?.discarded, true);
});

test('a new tab is answered for once its page is there, and the relay knows its address', async () => {
  answers = async () => [{ result: 404 }];
  open();
  await turn();
  navigate('before');
  navigate('committed');
  await turn();
  assert.deepEqual(told, []);
  navigate('completed');
  await turn();
  assert.deepEqual(told, []);
  hear.updated(5, { status: 'loading' }, { id: 5, windowId: 1, url: 'https://a.example/' });
  await turn();
  assert.deepEqual(told, ['changed 5', reply('"status":"complete","begun":true,"httpStatus":404')]);
  assert.equal(navigation.size, 0);
});

test('a page that takes long is answered for as what it is', async () => {
  open();
  await turn();
  navigate('before');
  mock.timers.tick(7000);
  await turn();
  assert.deepEqual(told, [reply('"status":"loading","begun":false')]);
  told = [];
  open();
  await turn();
  navigate('committed');
  await turn();
  navigate('completed', { frameId: 3 }); // a frame
  navigate('completed', { tabId: 6 });
  mock.timers.tick(2000);
  await turn();
  mock.timers.tick(1500);
  await turn();
  assert.deepEqual(told, [reply('"status":"loading","begun":true')]);
});

test('a page that does not load is a failure, and its tab is closed', async () => {
  open();
  await turn();
  navigate('before');
  navigate('failed', { error: 'net::ERR_NAME_NOT_RESOLVED' });
  await turn();
  assert.deepEqual(told, ['remove 5', refusal('net::ERR_NAME_NOT_RESOLVED')]);
  told = [];
  open(); // one that sends itself elsewhere first, and then begins a download
  await turn();
  navigate('before');
  navigate('before');
  navigate('failed', { error: 'net::ERR_ABORTED' });
  await turn();
  assert.deepEqual(told, []);
  navigate('failed', { error: 'net::ERR_ABORTED' });
  await turn();
  assert.deepEqual(told, ['remove 5', refusal('net::ERR_ABORTED')]);
});

test('what a recovery asks for', async () => {
  const commands = new Map(
    commandsOf({
      shown: async () => {},
      reinject: async (tabId: number, plugin: string) => {
        if (plugin !== 'demo') throw new Error(`There is no plugin ${plugin}`);
        told.push(`inject ${tabId} ${plugin}`);
      },
      group: async (wanted: readonly { title: string }[]) => {
        for (const { title } of wanted) told.push(`group ${title}`);
      },
    }),
  );
  const run = async (name: string, params: unknown) => {
    const reply = await runCommand(name, params, commands);
    return reply.ok ? 'done' : reply.error.code;
  };
  assert.equal(await run('tabs.reload', { tabId: 5 }), 'done');
  assert.equal(await run('tabs.reload', { tabId: 6 }), 'TAB_NOT_FOUND');
  assert.equal(await run('tabs.reload', {}), 'VALIDATION_ERROR');
  assert.equal(await run('adapter.inject', { tabId: 5, plugin: 'demo' }), 'done');
  assert.equal(await run('adapter.inject', { tabId: 5, plugin: 'else' }), 'INTERNAL_ERROR');
  assert.equal(await run('adapter.inject', { tabId: 5 }), 'VALIDATION_ERROR');
  const codex = { title: 'codex', color: 'blue', tabs: [5] };
  assert.equal(await run('tabs.group', { groups: [codex] }), 'done');
  assert.equal(await run('tabs.group', { groups: [{ ...codex, color: 'grey' }] }), 'VALIDATION_ERROR');
  assert.equal(await run('tabs.group', {}), 'VALIDATION_ERROR');
  assert.deepEqual(told, ['reload 5', 'inject 5 demo', 'group codex']);
});

test('a page that hangs is thrown away, which gives its tab another id', async () => {
  answers = () => new Promise(() => {});
  const commands = new Map(
    commandsOf({
      shown: async (tabId: number) => {
        told.push(`shown ${tabId}`);
      },
      reinject: async () => {},
      group: async () => {},
    }),
  );
  const reply = runCommand('tabs.reload', { tabId: 7 }, commands);
  await turn();
  mock.timers.tick(1500);
  assert.deepEqual(await reply, { ok: true, result: { tabId: 5 } });
  assert.deepEqual(told, ['reload 7', 'discard 7', 'reload 5', 'shown 5']);
});
