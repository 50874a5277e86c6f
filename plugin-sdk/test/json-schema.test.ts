import assert from 'node:assert/strict';
import { test } from 'node:test';
import * as s from '../src/json-schema.ts';
import type { Arguments, Value } from '../src/schema.ts';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>): void => {};

const input = s.parameters({
  title: s.string('Of the page.', { minLength: 1 }),
  tags: s.array(s.string(), { maxItems: 3 }),
  limit: s.integer('How many.', { minimum: 1, default: 10 }),
  state: s.optional(s.choice(['open', 'closed'])),
  range: s.optional(s.object({ from: s.number(), exact: s.optional(s.boolean('To the day.')) })),
  id: s.optional({ type: ['integer', 'null'] }),
});

test('parameters are required unless they are optional or have a default, and there are no others', () => {
  assert.deepEqual(JSON.parse(JSON.stringify(input)), {
    type: 'object',
    properties: {
      title: { type: 'string', minLength: 1, description: 'Of the page.' },
      tags: { type: 'array', items: { type: 'string' }, maxItems: 3 },
      limit: { type: 'integer', minimum: 1, default: 10, description: 'How many.' },
      state: { type: 'string', enum: ['open', 'closed'] },
      range: {
        type: 'object',
        properties: { from: { type: 'number' }, exact: { type: 'boolean', description: 'To the day.' } },
        required: ['from'],
      },
      id: { type: ['integer', 'null'] },
    },
    required: ['title', 'tags'],
    additionalProperties: false,
  });
  same<
    Arguments<typeof input>,
    {
      title: string;
      tags: string[];
      limit: number;
      state?: 'open' | 'closed';
      range?: { from: number; exact?: boolean };
      id?: number | null;
    }
  >(true);
});

test('fields of an object are required unless they are optional, also those that are spread into it', () => {
  const paging = { total: s.integer(), next: s.optional(s.integer()) };
  const output = s.object({ rows: s.array(s.string(), 'One a line.'), ...paging }, 'A part of them.');
  assert.deepEqual(output.required, ['rows', 'total']);
  assert.equal(Reflect.get(output, 'description'), 'A part of them.');
  same<Value<typeof output>, { rows: string[]; total: number; next?: number }>(true);
});

test('an object without required fields has no empty list of them', () => {
  assert.deepEqual(s.object({ note: s.optional(s.string()) }), {
    type: 'object',
    properties: { note: s.optional(s.string()) },
  });
  assert.equal('required' in s.parameters({}), false);
});
