// Categories and tags as the API answers them.

import { htmlToText } from '@tabrelay/plugin-sdk/html';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';

export const taxonomy = s.choice(['category', 'tag'], 'Categories form a tree; tags do not.');

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
export const termOutput = s.object({
  id: s.integer(),
  name: s.string(),
  slug: s.string(),
  description: s.string(),
  parent: s.integer('0 at the top, and for every tag.'),
  posts: s.integer('How many published posts have it.'),
});
