import assert from 'node:assert/strict';
import { beforeEach, mock, test } from 'node:test';
import { Calls, type Heard } from '../src/bridge/calls.ts';
import type { Observer } from '../src/page/reporting.ts';
import type { FromBridge } from '../src/shared/bridge-messages.ts';
import type { CallOrder, Ending } from '../src/shared/order.ts';

Reflect.set(globalThis, 'location', { href: 'https://a.example/', origin: 'https://a.example' });
Reflect.set(globalThis, 'window', Object.assign(globalThis, { top: globalThis }));

const order = (id: string, settings?: Record<string, unknown>): CallOrder => ({
  id,
  plugin: 'p',
  hash: 'h',
  tool: 't',
  args: '{}',
  settings,
  tabId: 1,
  timeoutMs: 1000,
  maxTimeoutMs: 1000,
  progressExtends: true,
  maxResultBytes: 1000,
  matches: [],
  excludes: [],
});

const value: Ending = { status: 'returned', value: '1' };
const failure: Ending = { status: 'threw', error: { code: 'X' } };

let said: FromBridge[];
let observers: Observer[];
let aborted: string[];
let consoleProgress: string[];
let marked: string[];
let lines: Set<Heard>;
let late: boolean;
let consoled: string[]; // what people see in the page's console
let calls: Calls;
let opened: (() => void) | undefined;

const words = () => said.map((message) => message.type);
const turn = () => new Promise<void>((resolve) => setImmediate(resolve));

beforeEach(() => {
  mock.timers.reset();
  Object.assign(globalThis, { document: { visibilityState: 'visible' } });
  said = [];
  observers = [];
  aborted = [];
  consoleProgress = [];
  lines = new Set();
  marked = [];
  late = false;
  consoled = [];
  opened = undefined;
  calls = new Calls(
    (message) => said.push(message),
    (given) =>
      given.tool === 't'
        ? (observer) => {
            observers.push(observer);
            return {
              abort: (reason) => aborted.push(reason),
              progressFromConsole: (message) => consoleProgress.push(message),
            };
          }
        : undefined,
    {
      ready: () =>
        opened === undefined
          ? undefined
          : new Promise<void>((resolve) => {
              opened = resolve;
            }),
      begin: () => 0,
      since: async () => 'tail',
      end: () => {},
      say: (text) => consoled.push(text),
      listen: (heard) => {
        lines.add(heard);
        return () => lines.delete(heard);
      },
      heard: async () => {},
    },
    () => (late ? 'reached' : undefined),
    {
      begin: ({ client }) => marked.push(client),
      end: () => marked.push('end'),
    },
  );
});

test('an outcome is kept until it is acknowledged', () => {
  calls.start(order('a'), Date.now(), 0);
  assert.equal(calls.idle, false);
  observers[0]?.started();
  observers[0]?.ended(value);
  assert.deepEqual(words(), ['started', 'outcome']);
  assert.deepEqual(calls.running(), []);
  assert.equal([...calls.outcomes()].length, 1);
  assert.equal(calls.phase('a'), 'finished');
  calls.start(order('a'), Date.now(), 0); // asked again: told again, not run again
  assert.deepEqual(words(), ['started', 'outcome', 'outcome']);
  assert.equal(observers.length, 1);
  calls.acknowledge(['a']);
  assert.equal(calls.idle, true);
});

test('a call that was cancelled first never starts', () => {
  assert.equal(calls.cancel('a'), 'never');
  calls.start(order('a'), Date.now(), 0);
  assert.equal(observers.length, 0);
});

test('a call that was asked about and denied never starts', () => {
  assert.equal(calls.phase('a'), 'never');
  calls.start(order('a'), Date.now(), 0);
  assert.equal(observers.length, 0);
});

test('a call that waited long is confirmed before it starts', () => {
  calls.start(order('a'), Date.now() - 5000, 0);
  assert.deepEqual(said, [{ type: 'stale', id: 'a' }]);
  calls.go('a');
  assert.equal(observers.length, 1);
  calls.start(order('b'), Date.now() + 5000, 0); // a clock that was set back proves nothing either
  assert.equal(calls.phase('b'), 'never');
  calls.go('b');
  assert.equal(observers.length, 1);
});

test('the worker died before it confirmed a call: it does not start', () => {
  calls.start(order('a'), Date.now() - 5000, 0);
  calls.forgetUnconfirmed();
  calls.go('a');
  assert.equal(observers.length, 0);
});

test('a call waits for the console to be watched, and can be cancelled meanwhile', async () => {
  opened = () => {};
  calls.start(order('a'), Date.now(), 4096);
  calls.start(order('b'), Date.now(), 4096);
  assert.equal(observers.length, 0);
  const openB = opened;
  assert.equal(calls.cancel('b'), 'never');
  openB();
  await turn();
  assert.equal(observers.length, 0);
});

test("a failure brings the console, and the handler's own end comes after it", async () => {
  calls.start(order('a'), Date.now(), 4096);
  observers[0]?.ended({
    status: 'refused',
    started: true,
    refusal: { code: 'TIMEOUT', message: 'm', outcome: 'unknown' },
  });
  observers[0]?.late(failure);
  await turn();
  const outcomes = said.filter((message) => message.type === 'outcome');
  assert.deepEqual(
    outcomes.map((outcome) => [outcome.ending.status, outcome.late, outcome.place.consoleTail]),
    [
      ['refused', false, 'tail'],
      ['threw', true, undefined],
    ],
  );
});

test('a call that failed at once is known while the console is read', async () => {
  calls.start(order('a'), Date.now(), 4096);
  observers[0]?.ended(failure);
  assert.equal(calls.cancel('a'), 'running');
  await turn();
  assert.equal(calls.phase('a'), 'finished');
});

test('a failure is in the console of the page with its correlation id, and nothing it says', async () => {
  calls.start(order('a'), Date.now(), 4096);
  observers[0]?.ended(failure);
  await turn();
  assert.equal(consoled.length, 1);
  assert.match(consoled[0] ?? '', /^tabrelay: .*__.* ended with [\w ]+, correlation id a$/);
  calls.start(order('b'), Date.now(), 4096);
  observers[1]?.ended(value);
  assert.equal(consoled.length, 1);
  calls.start({ ...order('c'), correlationId: 'a' }, Date.now(), 4096);
  observers[2]?.ended(failure);
  assert.match(consoled[1] ?? '', /correlation id a$/, 'another attempt of the same call');
});

test('secret settings are withheld from an adapter that came late', () => {
  late = true;
  calls.start({ ...order('a', { token: 't' }), secret: true }, Date.now(), 0);
  assert.equal(observers.length, 0);
  assert.match(JSON.stringify(said), /ADAPTER_NOT_READY.*not_executed/);
  calls.start(order('b', { url: 'https://a.example/' }), Date.now(), 0);
  assert.equal(observers.length, 1);
});

test('a tool that is not in this document is missing, nothing more', () => {
  calls.start({ ...order('a'), tool: 'other' }, Date.now(), 0);
  assert.deepEqual(said, [{ type: 'missing', id: 'a' }]);
  assert.equal(calls.phase('a'), 'never');
});

test('leaving the page aborts what runs', () => {
  calls.start(order('a'), Date.now(), 0);
  calls.abortAll('document');
  assert.deepEqual(aborted, ['document']);
});

test('tombstones are bounded', () => {
  for (let i = 0; i < 2000; i++) calls.phase(`old ${i}`);
  calls.start(order('old 1999'), Date.now(), 0);
  assert.equal(observers.length, 0);
  calls.start(order('old 0'), Date.now(), 0);
  assert.equal(observers.length, 1);
});

test('lines of the console that a tool declares to be progress are', () => {
  calls.start({ ...order('a'), progressPattern: '^uploaded \\d+' }, Date.now(), 0);
  calls.start({ ...order('b'), progressPattern: '(' }, Date.now(), 0); // not JavaScript: matches nothing
  calls.start(order('c'), Date.now(), 0);
  assert.equal(lines.size, 1);
  for (const heard of lines)
    for (const text of ['uploaded 7', 'something else', 'error: uploaded 8']) heard(text, false);
  assert.deepEqual(consoleProgress, ['uploaded 7']);
  observers[0]?.ended(value);
  assert.equal(lines.size, 0);
});
