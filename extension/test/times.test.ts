import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Times } from '../src/worker/calls/times.ts';

const place = (startUs: number, endUs: number) => ({ origin: 'o', durationMs: 0, times: { startUs, endUs } });

/** Times under a clock that the test sets. */
function clocked(t: { mock: { method: typeof test.mock.method } }) {
  let at = 1000;
  t.mock.method(performance, 'now', () => at);
  return { times: new Times(), after: (ms: number) => (at += ms) };
}

test("the document's times are put in the middle between question and answer", (t) => {
  const { times, after } = clocked(t);
  after(2);
  times.mark('prepared');
  times.asked('c1');
  after(10);
  times.answered('c1', place(1000, 6000));
  after(1);
  assert.deepEqual(times.sent(), [
    { step: 'prepared', us: 2000 },
    { step: 'asked', us: 2000 },
    { step: 'started', us: 5000 },
    { step: 'ended', us: 10000 },
    { step: 'answered', us: 12000 },
    { step: 'sent', us: 13000 },
  ]);
});

test('parts at once, one without an answer, one answered twice, and one that never started', (t) => {
  const { times, after } = clocked(t);
  times.asked('c1.1', 'outline');
  times.asked('c1.2', 'outline');
  times.asked('c1.3', 'act');
  after(4);
  times.answered('c1.2', { origin: 'o', durationMs: 0 });
  after(2);
  times.answered('c1.1', place(0, 9000)); // its clock is faster
  times.answered('c1.1', place(0, 1));
  assert.deepEqual(times.sent(), [
    { step: 'asked', us: 0, what: 'outline' },
    { step: 'asked', us: 0, what: 'outline' },
    { step: 'asked', us: 0, what: 'act' },
    { step: 'started', us: 0 },
    { step: 'answered', us: 4000, what: 'outline' },
    { step: 'ended', us: 6000 },
    { step: 'answered', us: 6000, what: 'outline' },
    { step: 'sent', us: 6000 },
  ]);
});

test('of very many steps the first are kept, and the last', (t) => {
  const { times } = clocked(t);
  for (let n = 0; n < 300; n++) times.mark('prepared');
  const list = times.sent();
  assert.equal(list.length, 200);
  assert.equal(list.at(-1)?.step, 'sent');
});
