// Categories and tags as the API answers them.

import { asNumber, asText, type JsonObject } from '@tabrelay/plugin-sdk/json';
import { plain } from './markup.ts';
import { record } from './shape.ts';

export const taxonomy = {
  enum: ['category', 'tag'],
  description: 'Categories form a tree; tags do not.',
} as const;

/** Where the API keeps them. */
export const termsOf = (kind: 'category' | 'tag'): string =>
  kind === 'tag' ? '/wp/v2/tags' : '/wp/v2/categories';

export const term = (from: JsonObject) => ({
  id: asNumber(from.id),
  name: plain(asText(from.name)),
  slug: asText(from.slug),
  description: asText(from.description),
  parent: asNumber(from.parent),
  posts: asNumber(from.count),
});

/** JSON Schema of [term]. */
export const termOutput = record({
  id: { type: 'integer' },
  name: { type: 'string' },
  slug: { type: 'string' },
  description: { type: 'string' },
  parent: { type: 'integer', description: '0 at the top, and for every tag.' },
  posts: { type: 'integer', description: 'How many published posts have it.' },
});
