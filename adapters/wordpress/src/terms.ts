// Categories and tags as the API answers them.

import { htmlToText } from '@tabrelay/plugin-sdk/html';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { record } from './shape.ts';

export const taxonomy = {
  enum: ['category', 'tag'],
  description: 'Categories form a tree; tags do not.',
} as const;

/** Where the API keeps them. */
export const termsOf = (kind: 'category' | 'tag'): string =>
  kind === 'tag' ? '/wp/v2/tags' : '/wp/v2/categories';

export const term = (from: JsonReader) => ({
  id: from.number('id'),
  name: htmlToText(from.string('name')),
  slug: from.string('slug'),
  description: from.string('description'),
  parent: from.string('taxonomy') === 'post_tag' ? 0 : from.number('parent'),
  posts: from.number('count'),
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
