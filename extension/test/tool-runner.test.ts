import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallFrame, PluginInfo } from '../src/protocol/frames.generated.ts';
import { Inflight } from '../src/worker/calls/inflight.ts';
import { Outcomes, Records } from '../src/worker/calls/records.ts';
import { Ended, endingOf, performAgain, ToolRunner } from '../src/worker/calls/tool-runner.ts';
import { Bridges } from '../src/worker/documents/bridges.ts';
import { Injector } from '../src/worker/documents/inject.ts';
import { References } from '../src/worker/documents/references.ts';
import { Tabs } from '../src/worker/tabs/tabs.ts';

const outcomeOf = (why: unknown, started: boolean, write: boolean): unknown => {
  const ending = endingOf(why, { started, write });
  if (ending.status === 'refused') return ending.refusal.outcome;
  return ending.status === 'threw' ? ending.error.outcome : ending.status;
};

test('of what nobody foresaw it is said whether anything may have been done', () => {
  for (const why of [new Error('of Chrome'), new Error('No tab with id: 7.'), 'a text']) {
    assert.equal(outcomeOf(why, true, true), 'unknown');
    assert.equal(outcomeOf(why, true, false), 'executed');
    assert.equal(outcomeOf(why, false, true), 'not_executed');
  }
  assert.equal(outcomeOf(Ended.as('PDF_FAILED', 'none'), true, true), 'not_executed');
});

const site = 'http://a.test';
const frame: CallFrame = {
  type: 'call',
  id: 'c',
  tabId: 1,
  plugin: 'browser',
  hash: 'h',
  tool: 'snapshot',
  origin: site,
  timeoutMs: 1000,
  maxTimeoutMs: 1000,
  consoleTailBytes: 0,
  write: false,
  progressExtends: false,
  maxResultBytes: 1000,
};
const gone = Ended.before('TAB_CHANGED', 'The tab went to another page');
const busy = Ended.before('TAB_UNRESPONSIVE', 'The page is busy');

for (const [what, fails, next, answer, times] of [
  ['is done again in the next document', [gone], `${site}/next`, 'seen', 2],
  ['is done twice at most', [gone, gone], `${site}/next`, gone, 2],
  ['is not done on another site', [gone], 'http://b.test/', gone, 1],
  ['is not done where no document comes', [gone], undefined, gone, 1],
  ['is not done again if the document is still there', [busy], `${site}/next`, busy, 1],
] as const)
  test(`a call whose document goes away ${what}`, async () => {
    let calls = 0;
    const perform = async () => {
      const why = fails[calls++];
      if (why !== undefined) throw why;
      return 'seen';
    };
    const run = { frame, signal: new AbortController().signal };
    const comes = async () => (next === undefined ? undefined : { url: next });
    assert.equal(await performAgain(run, perform, comes).catch((why: unknown) => why), answer);
    assert.equal(calls, times);
  });

test('a cancelled call is not done again', async () => {
  const controller = new AbortController();
  const run = { frame, signal: controller.signal };
  const comes = async () => {
    controller.abort();
    return { url: `${site}/next` };
  };
  await assert.rejects(
    performAgain(run, () => Promise.reject(gone), comes),
    gone,
  );
});

for (const [what, get, code] of [
  [
    'is closed',
    async () => {
      throw new Error('No tab with id: 1.');
    },
    'TAB_CLOSED',
  ],
  ['shows a page of the browser itself', async () => ({ id: 1, url: 'chrome://newtab/' }), 'TAB_CHANGED'],
  ['has no address yet', async () => ({ id: 1, url: '' }), 'TAB_CHANGED'],
] as const)
  test(`a call whose tab ${what} as it is about to begin does nothing, and says why`, async () => {
    const deaf = { addListener: () => {} };
    const events = ['Created', 'Updated', 'Removed', 'Replaced', 'Attached', 'Activated'];
    Reflect.set(globalThis, 'chrome', {
      tabs: { get, query: async () => [], ...Object.fromEntries(events.map((name) => [`on${name}`, deaf])) },
      windows: {
        WINDOW_ID_NONE: -1,
        onFocusChanged: deaf,
        onRemoved: deaf,
        getLastFocused: async () => undefined,
      },
    });
    const store = { get: async () => ({ epoch: 'e' }), set: async () => {}, remove: async () => {} };
    const records = new Records(store);
    await records.loaded;
    let told = (_text: string) => {};
    const outcome = new Promise<string>((resolve) => {
      told = resolve;
    });
    const outcomes = new Outcomes(records, (text) => {
      told(text);
      return true;
    });
    const inflight = new Inflight(outcomes, records, { began() {}, ended() {} });
    const bridges = new Bridges(records, { reached: async () => true });
    const tabs = new Tabs();
    await tabs.loaded;
    let done = false;
    const toolRunner = new ToolRunner(
      {
        ...{ tabs, bridges, records, inflight, injector: new Injector(bridges) },
        references: new References(store),
        acting: () => undefined,
        touched() {},
        send() {},
      },
      new Map(),
      async (run) => {
        await run.begins();
        done = true;
      },
    );
    const call = inflight.admit({ ...frame, write: true }, undefined, 'preparing');
    const plugin: PluginInfo = {
      name: 'browser',
      hash: 'h',
      file: 'f',
      matches: [],
      excludes: [],
      world: 'isolated',
    };
    toolRunner.begin(call, { ...frame, write: true }, plugin, '{}');
    const { status, started, refusal } = JSON.parse((await outcome).split('\n')[0] ?? '');
    assert.deepEqual(
      [status, started, refusal.code, refusal.outcome],
      ['refused', false, code, 'not_executed'],
    );
    assert.equal(done, false);
  });
