import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { retry, sleep, ToolError, waitUntil } from '../src/index.ts';

/** Runs with a clock that stands still until the test moves it. */
async function withClock(run: (tick: (ms: number) => Promise<void>) => Promise<void>): Promise<void> {
  mock.timers.enable({ apis: ['setTimeout', 'Date'] });
  const now = mock.method(performance, 'now', () => Date.now());
  try {
    await run(async (ms) => {
      await settled();
      mock.timers.tick(ms);
      await settled();
    });
  } finally {
    now.mock.restore();
    mock.timers.reset();
  }
}

/** Whatever does not wait for the clock has happened. */
const settled = () => new Promise(setImmediate);

test('sleep ends after its time, or with the reason of its signal', () =>
  withClock(async (tick) => {
    let done = false;
    const sleeping = sleep(100).then(() => {
      done = true;
    });
    await tick(99);
    assert.equal(done, false);
    await tick(1);
    await sleeping;

    const stop = new AbortController();
    const stopped = sleep(100, { signal: stop.signal });
    const why = new Error('why');
    stop.abort(why);
    await assert.rejects(stopped, why);
    await assert.rejects(sleep(100, { signal: stop.signal }), why);
  }));

test('waitUntil looks again and again, and gives up in time', () =>
  withClock(async (tick) => {
    let looks = 0;
    const waiting = waitUntil(() => ++looks === 3, { interval: 10 });
    for (let i = 0; i < 2; i++) await tick(10);
    await waiting;
    assert.equal(looks, 3);

    const failed = assert.rejects(
      waitUntil(async () => false, { interval: 40, timeout: 100 }),
      {
        code: 'TIMEOUT',
        message: 'What was waited for did not happen within 0.1 s',
      },
    );
    for (let i = 0; i < 3; i++) await tick(40);
    await failed;
  }));

test('retry waits longer each time, or as long as the error says', () =>
  withClock(async (tick) => {
    const times: number[] = [];
    const failing = assert.rejects(
      retry(
        async (number) => {
          times.push(Date.now());
          throw number === 2 ? ToolError.rateLimited('slow', 50) : new Error('no');
        },
        { maxAttempts: 4, delay: 10 },
      ),
      { message: 'no' },
    );
    for (let i = 0; i < 20; i++) await tick(10);
    await failing;
    assert.deepEqual(times, [0, 10, 60, 100]);
  }));

test('retry stops at an error that is not retryable, and when its signal fires', () =>
  withClock(async () => {
    let tries = 0;
    await assert.rejects(
      retry(async () => {
        tries++;
        throw ToolError.auth('sign in');
      }),
      { code: 'AUTH_ERROR' },
    );
    assert.equal(tries, 1);

    const stop = new AbortController();
    const why = new Error('why');
    const failing = retry(
      async () => {
        throw new Error('no');
      },
      { signal: stop.signal },
    );
    queueMicrotask(() => stop.abort(why));
    await assert.rejects(failing);
  }));

test('retry answers what an attempt answers', async () => {
  assert.equal(await retry(async (number) => number), 1);
});
