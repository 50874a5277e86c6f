import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ended, endingOf } from '../src/worker/calls/tool-runner.ts';

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
