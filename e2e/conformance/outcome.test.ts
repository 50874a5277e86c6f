import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compare, type Outcome, outcomeOf } from './outcome.ts';

test('the worst check decides what a scenario came to', () => {
  assert.equal(outcomeOf(['SUCCESS', 'INFO']), 'passed');
  assert.equal(outcomeOf(['SUCCESS', 'WARNING']), 'warned');
  assert.equal(outcomeOf(['WARNING', 'FAILURE', 'SUCCESS']), 'failed');
  assert.equal(outcomeOf(['SKIPPED']), 'skipped');
  assert.equal(outcomeOf([]), 'skipped');
});

const known = { polling: { outcome: 'skipped', why: 'because' } } as const;

test('what is as it is known is not worth a word', () => {
  assert.deepEqual(
    compare(
      new Map<string, Outcome>([
        ['ping', 'passed'],
        ['polling', 'skipped'],
      ]),
      2,
      known,
    ),
    [],
  );
});

test('a failure that is not known, an entry that passes, and one that did not run are complaints', () => {
  const failed = new Map<string, Outcome>([
    ['ping', 'failed'],
    ['polling', 'passed'],
  ]);
  assert.deepEqual(compare(failed, 2, known), [
    'ping: failed, expected passed',
    'polling passes; take it out of baseline.json',
  ]);
  assert.deepEqual(compare(new Map<string, Outcome>([['ping', 'passed']]), 2, known), [
    '1 scenarios ran, baseline.json says 2',
    'polling is in baseline.json and did not run',
  ]);
});
