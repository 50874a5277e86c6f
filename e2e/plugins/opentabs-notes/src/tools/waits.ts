import {
  defineTool,
  observeDOM,
  retry,
  sleep,
  ToolError,
  waitForSelector,
  waitForSelectorRemoval,
  waitUntil,
} from '@opentabs-dev/plugin-sdk';
import { z } from 'zod';

const failure = (wait: Promise<unknown>) =>
  wait.then(
    () => 'it did not fail',
    (error: Error) => error.message,
  );

const abortedSoon = (reason: string): AbortSignal => {
  const stop = new AbortController();
  setTimeout(() => stop.abort(new Error(reason)), 20);
  return stop.signal;
};

const waitInVain = defineTool({
  name: 'wait_in_vain',
  description: 'Waits for what does not come',
  input: z.object({}),
  output: z.object({ failures: z.array(z.string()) }),
  handle: async () => ({
    failures: await Promise.all([
      failure(waitForSelector('#never', { timeout: 30 })),
      failure(waitForSelector('#never', { signal: abortedSoon('stopped looking') })),
      failure(waitForSelector('li[')),
      failure(waitForSelectorRemoval('h1', { timeout: 30 })),
      failure(waitForSelectorRemoval('h1', { signal: abortedSoon('stopped waiting') })),
      failure(waitUntil(() => false, { interval: 5, timeout: 30 })),
      failure(waitUntil(() => false, { signal: abortedSoon('stopped asking') })),
      failure(sleep(60_000, { signal: abortedSoon('woken') })),
    ]),
  }),
});

const waitThroughErrors = defineTool({
  name: 'wait_through_errors',
  description: 'Waits for a condition that fails before it holds',
  input: z.object({}),
  output: z.object({ asked: z.number() }),
  async handle() {
    let asked = 0;
    await waitUntil(
      async () => {
        asked++;
        if (asked < 3) throw new Error('there is nothing to look at yet');
        return true;
      },
      { interval: 5, timeout: 2000 },
    );
    return { asked };
  },
});

const retryAnything = defineTool({
  name: 'retry_anything',
  description: 'Tries what fails in different ways',
  input: z.object({}),
  output: z.object({ tries: z.array(z.number()), failures: z.array(z.string()) }),
  async handle() {
    const tries = [0, 0, 0];
    const attempt = (i: number, error: Error) => async () => {
      tries[i] = (tries[i] ?? 0) + 1;
      throw error;
    };
    const failures = [
      await failure(retry(attempt(0, ToolError.notFound('not there')), { delay: 1 })),
      await failure(
        retry(attempt(1, new Error('no')), { maxAttempts: 5, delay: 1, backoff: true, maxDelay: 2 }),
      ),
      await failure(
        retry(attempt(2, new Error('no')), { delay: 60_000, signal: abortedSoon('stopped trying') }),
      ),
      await failure(retry(async () => 1, { maxAttempts: 0 })),
    ];
    return { tries, failures };
  },
});

const observe = defineTool({
  name: 'observe',
  description: 'Hears of changes of some kinds only',
  input: z.object({}),
  output: z.object({ attributes: z.number(), children: z.number(), missing: z.string() }),
  async handle() {
    const heard = { attributes: 0, children: 0 };
    const count = (kind: keyof typeof heard, records: MutationRecord[]) => {
      heard[kind] += records.length;
    };
    const stops = [
      observeDOM('body', (records) => count('attributes', records), {
        attributes: true,
        childList: false,
      }),
      observeDOM('body', (records) => count('children', records), { subtree: false }),
    ];
    const list = document.querySelector('ul');
    list?.setAttribute('title', 'observed');
    list?.append('deeper than the body');
    document.body.append('in the body');
    await Promise.resolve();
    for (const stop of stops) stop();
    document.body.append('after the end');
    await Promise.resolve();
    return { ...heard, missing: await failure((async () => observeDOM('#never', () => {}))()) };
  },
});

const tellSteps = defineTool({
  name: 'tell_steps',
  description: 'Says what it does without counting',
  input: z.object({}),
  output: z.object({}),
  async handle(_, context) {
    context?.reportProgress({ message: 'looking' });
    context?.reportProgress({ message: 'reading' });
    return {};
  },
});

export const waitTools = [waitInVain, waitThroughErrors, retryAnything, observe, tellSteps];
