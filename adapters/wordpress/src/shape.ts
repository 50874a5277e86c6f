// Pieces of JSON Schema that several tools share.

import type { JsonSchema } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';

/** The arguments that page through a list. */
export const paging = {
  limit: s.integer('How many to list.', { minimum: 1, maximum: 50, default: 10 }),
  offset: s.integer('From nextOffset of the previous answer.', { minimum: 0, default: 0 }),
};

/** A list of an answer, with what tells how to go on. */
export const listOf = <const Item extends JsonSchema>(items: Item) =>
  s.object({
    total: s.integer(),
    items: s.array(items),
    nextOffset: s.optional(s.integer('Present when there are more.')),
  });

export const id = s.integer('From a list.', { minimum: 1 });

export const postType = s.choice(['post', 'page'], 'Blog post or standing page.', {
  default: 'post',
});

export const time = s.string('UTC, ISO 8601.');
