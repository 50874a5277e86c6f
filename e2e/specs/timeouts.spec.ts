// How long a tool may take: by configuration, by the tool itself, by the caller, with progress and without. The page is
// told to stop, and the agent reads which clock it was and what to do.

import type { Answer } from '../stage/answer.ts';
import { expect, openStage, test } from '../stage/test.ts';

// Long enough that a page on a busy machine begins and reports in time.
const limits = { timeoutMs: 1500, maxTimeoutMs: 4000 };

/** What a tool takes that is not ended: it would succeed. */
const tooLong = 40_000;

/** What every timeout tells. */
function expectTimeout(answer: Answer, reason: string, timeoutMs: number, message: string): void {
  expect(answer.code).toBe('TIMEOUT');
  expect(answer.block).toMatchObject({ category: 'timeout', outcome: 'unknown', reason, timeoutMs });
  expect(answer.text.split('\n')[0]).toContain(`] ${message}`);
  expect(answer.facts).toMatchObject({ outcome: 'unknown', attempts: 1 });
  expect(answer.meta['tabrelay/error']).toMatchObject({ source: 'TIMEOUT', class: 'transient', reason });
}

test('idle: no progress within the configured time; the signal fires, and the tool has its own advice', async ({
  closing,
}) => {
  const stage = await openStage(closing, { config: limits });
  const result = await stage.agent.call('trouble__slow', { ms: tooLong, steps: 0, note: 'idle' });
  expectTimeout(result, 'idle', 1500, 'Tool timed out after 1.5s (no progress reported)');
  expect(result.text.split('\n')[1]).toBe('Suggestion: Ask for fewer milliseconds.');
  expect(result.block.retryable).toBe(true); // it only reads
  expect((await stage.demo.notes('idle', 2)).map(({ text }) => text)).toEqual(['started', 'aborted']);
});

test('max_exceeded: progress helps until the longest time there is', async ({ closing }) => {
  const stage = await openStage(closing, { config: limits });
  const steps: number[] = [];
  const result = await stage.agent.call(
    'trouble__slow',
    { ms: tooLong, steps: 400, note: 'max' },
    { onprogress: ({ progress }) => steps.push(progress) },
  );
  expectTimeout(result, 'max_exceeded', 1500, 'Tool exceeded maximum runtime of 4s');
  expect(result.meta['tabrelay/error']).toMatchObject({
    maxTimeoutMs: 4000,
    timeoutSecs: 2, // whole seconds
    maxTimeoutSecs: 4,
    progressExtendsTimeout: true,
  });
  expect(steps.length).toBeGreaterThan(4);
  expect((await stage.demo.notes('max', 2)).map(({ text }) => text)).toEqual(['started', 'aborted']);
});

test('fixed: where progress does not extend, it does not', async ({ closing }) => {
  const stage = await openStage(closing, { config: { ...limits, progressExtendsTimeout: false } });
  const result = await stage.agent.call('trouble__slow', { ms: tooLong, steps: 400 });
  expectTimeout(result, 'fixed', 1500, 'Tool timed out after 1.5s');
  expect(result.text).not.toContain('no progress');
});

test('the tool knows better than the configuration, and the caller better than the tool', async ({
  closing,
}) => {
  const stage = await openStage(closing, { config: { timeoutMs: 1500 } });
  // slow_increment declares 60 s.
  const own = await stage.agent.call('trouble__slow_increment', { name: 'own', ms: 1800 });
  expect(own.value).toMatchObject({ value: 1 });
  const shorter = await stage.agent.call(
    'trouble__slow_increment',
    { name: 'shorter', ms: tooLong, note: 'shorter' },
    { timeoutMs: 1200 },
  );
  expectTimeout(shorter, 'idle', 1200, 'Tool timed out after 1.2s (no progress reported)');
  expect(shorter.text.split('\n')[1]).toMatch(/^Next: .*read the page before repeating/i);
  expect(shorter.block.retryable).toBe(false); // it writes
  expect((await stage.demo.counter('shorter')).asked).toBe(1);
  const longer = await stage.agent.call('trouble__slow', { ms: 1800, steps: 0 }, { timeoutMs: 10_000 });
  expect(longer.value).toEqual({ waitedMs: 1800 });
});

test('nobody gets more than the longest time there is', async ({ closing }) => {
  const stage = await openStage(closing, { config: limits });
  const result = await stage.agent.call('trouble__slow', { ms: tooLong, steps: 0 }, { timeoutMs: 600_000 });
  expect(result.code).toBe('TIMEOUT');
  expect(result.block.timeoutMs).toBe(4000);
});
