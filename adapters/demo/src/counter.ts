import { defineTool, sleep } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { counterOutput, increment, nameInput, note, readCounter } from './site.ts';

export const counterRead = defineTool({
  name: 'counter_read',
  displayName: 'Read counter',
  description:
    'The value of a counter on the demo site; the one on its home page is called "demo".',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    name: { ...nameInput, default: 'demo' },
  }),
  output: counterOutput,
  handle: ({ name }, { signal }) => readCounter(name, signal),
});

export const counterIncrement = defineTool({
  name: 'counter_increment',
  displayName: 'Raise counter',
  description:
    'Adds to a counter on the demo site. The site logs each time it was asked, so a ' +
    'repeated action shows.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  input: s.parameters({
    name: { ...nameInput, default: 'demo' },
    by: s.integer({ minimum: -1000, maximum: 1000, default: 1 }),
  }),
  output: counterOutput,
  handle: ({ name, by }, { signal, idempotencyKey }) => increment(name, by, idempotencyKey, signal),
});

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
