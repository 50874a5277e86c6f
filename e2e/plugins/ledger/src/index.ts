// Answers that are too large, with and without an output schema.

import { definePlugin, defineTool } from '@tabrelay/plugin-sdk';

const input = {
  type: 'object',
  properties: { rows: { type: 'integer', minimum: 0 } },
  required: ['rows'],
  additionalProperties: false,
} as const;

const row = (id: number) => ({ id, text: `Row ${id} of the ledger, as it was written in ink.` });
const table = (rows: number) => Array.from({ length: rows }, (_, id) => row(id));

const rowSchema = {
  type: 'object',
  properties: { id: { type: 'integer' }, text: { type: 'string' } },
  required: ['id', 'text'],
} as const;

const typed = defineTool({
  name: 'typed',
  description: 'A page of the ledger.',
  annotations: { readOnlyHint: true },
  input,
  output: {
    type: 'object',
    properties: { title: { type: 'string' }, rows: { type: 'array', items: rowSchema } },
    required: ['title', 'rows'],
    additionalProperties: false,
  },
  handle: ({ rows }) => ({ title: 'Ledger', rows: table(rows) }),
});

const bare = defineTool({
  name: 'bare',
  description: 'The rows alone.',
  annotations: { readOnlyHint: true },
  input,
  output: { type: 'array', items: rowSchema },
  handle: ({ rows }) => table(rows),
});

const whole = defineTool({
  name: 'whole',
  description: 'A list that must not be shortened.',
  annotations: { readOnlyHint: true },
  input,
  output: { type: 'array', minItems: 3000, items: { ...rowSchema, additionalProperties: false } },
  narrowHint: 'Ask for fewer rows.',
  handle: ({ rows }) => table(rows),
});

const untyped = defineTool({
  name: 'untyped',
  description: 'Two lists; the shorter one is what matters.',
  annotations: { readOnlyHint: true },
  input,
  arrayPath: '.mine',
  handle: ({ rows }) => ({ mine: table(rows), other: table(400) }),
});

export default definePlugin({ tools: [typed, bare, whole, untyped] });
