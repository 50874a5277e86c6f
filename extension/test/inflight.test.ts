import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { Departures, Inflight, type OpenCall } from '../src/worker/calls/inflight.ts';
import { Outcomes, Records } from '../src/worker/calls/records.ts';
import { Bridge } from '../src/worker/documents/bridges.ts';

// The part of a port a bridge uses.
function port(): chrome.runtime.Port {
  const event = {
    addListener() {},
    removeListener() {},
    hasListener: () => false,
    hasListeners: () => false,
  };
  return {
    name: 'bridge',
    disconnect() {},
    postMessage() {},
    onDisconnect: { ...event, addRules() {}, getRules() {}, removeRules() {} },
    onMessage: { ...event, addRules() {}, getRules() {}, removeRules() {} },
  };
}

let sent: string[];
let inflight: Inflight;
let departures: Departures;
let bridge: Bridge;

const frame = (id: string, write = true): OpenCall['frame'] => ({
  id,
  tabId: 1,
  write,
  plugin: 'p',
  tool: 't',
});
const refusals = () => sent.map((text) => JSON.parse(text).refusal);
const settle = async () => {
  for (let i = 0; i < 5; i++) await new Promise<void>((resolve) => setImmediate(resolve));
};

beforeEach(async () => {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  mock.method(performance, 'now', () => Date.now());
  sent = [];
  const records = new Records({
    get: async () => ({ epoch: 'e' }),
    set: async () => {},
    remove: async () => {},
  });
  await records.loaded;
  const outcomes = new Outcomes(records, (text) => sent.push(text) > 0);
  inflight = new Inflight(outcomes, records, { began() {}, ended() {} });
  departures = new Departures(inflight);
  bridge = new Bridge(port(), 1, 'D', 0);
});
afterEach(() => {
  mock.timers.reset();
  mock.restoreAll();
});

test('a call ends once, and is known until its outcome is acknowledged', () => {
  const call = inflight.admit(frame('a'), bridge, 'started');
  inflight.finish(call, { status: 'returned', value: '1' });
  inflight.refuse(call, 'TIMEOUT', 'too late');
  assert.equal(sent.length, 1);
  assert.match(sent[0] ?? '', /^\{"type":"outcome","id":"a","status":"returned".*\}\n1$/);
  assert.equal(inflight.knows('a'), true);
});

test('what is known of a call follows from how far it got', () => {
  inflight.refuse(inflight.admit(frame('a'), undefined, 'preparing'), 'CANCELLED', 'm');
  inflight.refuse(inflight.admit(frame('b'), bridge, 'sent'), 'CANCELLED', 'm');
  inflight.refuse(inflight.admit(frame('c'), bridge, 'started'), 'CANCELLED', 'm');
  assert.deepEqual(
    refusals().map(({ outcome }) => outcome),
    ['not_executed', 'unknown', 'unknown'],
  );
});

test('a closed tab waits for the last words of its document', () => {
  inflight.admit(frame('a'), bridge, 'started');
  departures.tabRemoved(1);
  assert.equal(sent.length, 0);
  bridge.gone = true;
  departures.bridgeGone(bridge);
  assert.deepEqual(refusals(), [{ code: 'TAB_CLOSED', message: 'The tab was closed', outcome: 'unknown' }]);
});

test('a document that goes may have started what it was given, though nobody heard so', () => {
  inflight.admit(frame('a'), bridge, 'preparing');
  inflight.admit(frame('b'), bridge, 'sent');
  bridge.gone = true;
  departures.bridgeGone(bridge);
  departures.tabLoading(1);
  assert.deepEqual(
    refusals().map(({ code, outcome }) => [code, outcome]),
    [
      ['TAB_CHANGED', 'not_executed'],
      ['TAB_CHANGED', 'unknown'],
    ],
  );
});

test('a document that went without a word about its tab has changed', () => {
  inflight.admit(frame('a'), bridge, 'started');
  bridge.gone = true;
  departures.bridgeGone(bridge);
  mock.timers.tick(100);
  assert.equal(refusals()[0].code, 'TAB_CHANGED');
});

test('an abandoned write occupies its tab until its own end, from its own document', async () => {
  const call = inflight.admit(frame('a'), bridge, 'started');
  inflight.refuse(call, 'TIMEOUT', 'm');
  assert.equal(inflight.hasAbandonedWrite(1), true);
  assert.equal(inflight.hasAbandonedWrite(2), false);
  let free: boolean | undefined;
  inflight.whenNoAbandonedWrite(1).then((is) => {
    free = is.free;
  });
  const end = { ending: { status: 'returned', value: '1' }, place: { origin: 'o', durationMs: 1 } } as const;
  assert.equal(inflight.finishLate(new Bridge(port(), 1, 'other', 0), 'a', end), false);
  await settle();
  assert.equal(free, undefined);
  assert.equal(inflight.finishLate(bridge, 'a', end), true);
  await settle();
  assert.equal(free, true);
  assert.equal(sent.length, 2);
});

test('after the grace a tab stays busy for writes', async () => {
  inflight.refuse(inflight.admit(frame('a'), bridge, 'started'), 'TIMEOUT', 'm');
  let free: boolean | undefined;
  inflight.whenNoAbandonedWrite(1).then((is) => {
    free = is.free;
  });
  mock.timers.tick(2000);
  await settle();
  assert.equal(free, false);
  mock.timers.tick(3000);
  assert.deepEqual(await inflight.whenNoAbandonedWrite(1), { free: false, givenUpMs: 5000 });
  bridge.gone = true;
  inflight.documentGone(bridge);
  assert.equal((await inflight.whenNoAbandonedWrite(1)).free, true);
});

test('an abandoned read occupies nothing', () => {
  inflight.refuse(inflight.admit(frame('a', false), bridge, 'started'), 'TIMEOUT', 'm');
  assert.equal(inflight.hasAbandonedWrite(1), false);
});

test('of a call that runs in the worker its tab is busy as long as a part runs in a document', () => {
  const end = { ending: { status: 'returned', value: '1' }, place: { origin: 'o', durationMs: 1 } } as const;
  const call = inflight.admit(frame('a'), bridge, 'started');
  call.inWorker = true;
  call.parts.set('a.2', bridge);
  call.parts.set('a.3', bridge);
  assert.equal(inflight.finishLate(bridge, 'a.3', end), true); // it had been given up, and the call went on
  inflight.refuse(call, 'TIMEOUT', 'm');
  assert.equal(inflight.hasAbandonedWrite(1), true);
  assert.equal(inflight.knows('a'), true);
  assert.equal(inflight.finishLate(bridge, 'a.2', end), true);
  assert.equal(inflight.hasAbandonedWrite(1), false);
  assert.equal(sent.length, 1, 'the outcome of a part is none of its call');

  const none = inflight.admit(frame('b'), bridge, 'started');
  none.inWorker = true;
  inflight.refuse(none, 'TIMEOUT', 'm');
  assert.equal(inflight.hasAbandonedWrite(1), false);
});
