import { defineTool, sleep } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { counterOutput, increment, nameInput, note } from './site.ts';

export const slowIncrement = defineTool({
  name: 'slow_increment',
  displayName: 'Raise counter slowly',
  description:
    'Adds 1 to a counter, then takes its time before it answers: for watching what happens ' +
    'to a call meanwhile.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  timeoutMs: 60_000,
  input: s.parameters({
    name: nameInput,
    ms: s.integer('How long to take.', { minimum: 0, maximum: 600000 }),
    note: s.optional({
      ...nameInput,
      description: 'Where to leave the notes "started", "aborted" and "finished".',
    }),
  }),
  output: counterOutput,
  async handle({ name, ms, note: notes }, { signal, idempotencyKey }) {
    signal.addEventListener('abort', () => void note(notes, 'aborted'));
    const raised = await increment(name, 1, idempotencyKey);
    await note(notes, 'started');
    await sleep(ms, { signal });
    await note(notes, 'finished');
    return raised;
  },
});

export const slow = defineTool({
  name: 'slow',
  displayName: 'Take some time',
  description: 'Takes as long as asked and reports progress on the way. Stops at once when cancelled.',
  annotations: { readOnlyHint: true },
  timeoutHint: 'Ask for fewer milliseconds.',
  input: s.parameters({
    ms: s.integer({ minimum: 0, maximum: 600000 }),
    steps: s.integer('How often to report progress.', { minimum: 0, maximum: 1000, default: 5 }),
    note: s.optional({
      ...nameInput,
      description: 'Where to leave the notes "started", "aborted" and "finished".',
    }),
  }),
  output: s.object({
    waitedMs: s.integer(),
  }),
  async handle({ ms, steps, note: notes }, { signal, reportProgress }) {
    signal.addEventListener('abort', () => void note(notes, 'aborted'));
    await note(notes, 'started');
    for (let step = 1; step <= steps; step++) {
      await sleep(ms / steps, { signal });
      reportProgress({ progress: step, total: steps, message: `step ${step} of ${steps}` });
    }
    if (steps === 0) await sleep(ms, { signal });
    await note(notes, 'finished');
    return { waitedMs: ms };
  },
});

export const neverAnswer = defineTool({
  name: 'never_answer',
  displayName: 'Never answer',
  description: 'Never answers, and ignores being cancelled: the call ends when its time is over.',
  annotations: { readOnlyHint: false, destructiveHint: false },
  input: s.parameters({
    note: s.optional({
      ...nameInput,
      description: 'Where to leave the notes "started" and "aborted".',
    }),
  }),
  async handle({ note: notes }, { signal }) {
    signal.addEventListener('abort', () => void note(notes, 'aborted'));
    await note(notes, 'started');
    return await new Promise<never>(() => {});
  },
});

export const blockPage = defineTool({
  name: 'block_page',
  displayName: 'Block the page',
  description: 'Keeps the page busy, so that it can do nothing else meanwhile.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    ms: s.integer({ minimum: 0, maximum: 10000 }),
    note: s.optional({ ...nameInput, description: 'Where to leave the note "started".' }),
  }),
  handle({ ms, note: notes }) {
    void note(notes, 'started'); // not awaited: once it is heard of, the page is busy already
    const end = performance.now() + ms;
    while (performance.now() < end);
    return Promise.resolve({ blockedMs: ms });
  },
});
