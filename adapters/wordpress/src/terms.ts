// Categories and tags as the API answers them.

import { type Json, number, text } from './json.ts';
import { plain } from './markup.ts';
import { record } from './shape.ts';

export const taxonomy = {
  enum: ['category', 'tag'],
  description: 'Categories form a tree; tags do not.',
} as const;

/** Where the API keeps them. */
export const termsOf = (kind: 'category' | 'tag'): string =>
  kind === 'tag' ? '/wp/v2/tags' : '/wp/v2/categories';

export const term = (from: Json) => ({
  id: number(from.id),
  name: plain(text(from.name)),
  slug: text(from.slug),
  description: text(from.description),
  parent: number(from.parent),
  posts: number(from.count),
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
