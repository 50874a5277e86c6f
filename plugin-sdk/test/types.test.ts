// What the compiler has to know. A line marked as an error must be one; running it proves nothing more.

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { definePlugin, defineTool, type ToolContext } from '../src/index.ts';

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(_: Same<A, B>): void => {};

const plain = defineTool({
  name: 'plain',
  description: 'JSON Schema.',
  input: {
    type: 'object',
    properties: {
      title: { type: 'string' },
      level: { type: 'integer', default: 1 },
      state: { type: 'string', enum: ['open', 'closed'] },
      tags: { type: 'array', items: { type: 'string' } },
      owner: { type: ['string', 'null'] },
      range: {
        type: 'object',
        properties: { from: { type: 'number' }, exact: { const: true } },
        required: ['from'],
      },
      other: { anyOf: [{ type: 'boolean' }, { type: 'number' }] },
    },
    required: ['title', 'tags'],
  },
  output: {
    type: 'object',
    properties: {
      found: { type: 'array', items: { type: 'string' } },
      next: { type: 'string' },
    },
    required: ['found'],
  },
  async handle(params, ctx) {
    same<
      typeof params,
      {
        title: string;
        level: number;
        tags: string[];
        state?: 'open' | 'closed';
        owner?: string | null;
        range?: { from: number; exact?: true };
        other?: boolean | number;
      }
    >(true);
    same<typeof ctx, ToolContext>(true);
    const found: readonly string[] = params.tags;
    const next: string | undefined = undefined;
    return { found, next };
  },
});

const withZod = defineTool({
  name: 'with_zod',
  description: 'Zod.',
  input: z.object({ id: z.string(), limit: z.number().default(5), note: z.string().optional() }),
  output: z.object({ total: z.number() }),
  async handle(params) {
    same<typeof params, { id: string; limit: number; note?: string | undefined }>(true);
    return { total: params.limit };
  },
});

const bare = defineTool({ name: 'bare', description: 'No schemas.', handle: (_, { tab }) => tab.id });

defineTool({
  name: 'wrong',
  description: 'Answers the wrong thing.',
  output: { type: 'object', properties: { count: { type: 'integer' } }, required: ['count'] },
  // @ts-expect-error: the output declares a number
  handle: async () => ({ count: 'many' }),
});

defineTool({
  name: 'wrong',
  description: 'Takes a list.',
  // @ts-expect-error: the arguments of a tool are an object
  input: { type: 'array' },
  handle: () => null,
});

// @ts-expect-error: a tool needs a description
defineTool({ name: 'wrong', handle: () => null });

test('a plugin takes tools of every kind', () => {
  const plugin = definePlugin({ tools: [plain, withZod, bare], isReady: () => true });
  assert.deepEqual(
    plugin.tools.map((tool) => tool.name),
    ['plain', 'with_zod', 'bare'],
  );
});
