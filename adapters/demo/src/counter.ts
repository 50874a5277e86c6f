import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { counterOutput, increment, nameInput, readCounter } from './site.ts';

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
