import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { CallFrame } from '../src/protocol/frames.generated.ts';
import { Ended, endingOf, performAgain } from '../src/worker/calls/tool-runner.ts';

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
