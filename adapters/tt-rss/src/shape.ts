// Pieces of JSON Schema that several tools share.

import * as s from '@tabrelay/plugin-sdk/schema';

export const nextOffset = s.optional(s.integer('Present when there are more.'));

/** The arguments that page through a list. */
export const paging = {
  limit: s.integer('How many to list.', { minimum: 1, maximum: 200, default: 50 }),
  offset: s.integer('From nextOffset of the previous answer.', { minimum: 0, default: 0 }),
};

export const feedId = s.integer('From list_feeds.', { minimum: 1 });
export const categoryId = s.integer('From list_categories; 0: uncategorized.', { minimum: 0 });
export const labelId = s.integer('From list_labels.', { minimum: 1 });
export const articleId = s.integer('From list_news.', { minimum: 1 });

export const articleIds = s.array(s.integer({ minimum: 1 }), 'From list_news.', {
  minItems: 1,
  maxItems: 50,
});

/** A name that the reader keeps as it is: it takes out what could be HTML. */
export const name = (description: string) =>
  s.string(description, { minLength: 1, maxLength: 200, pattern: '^[^<]*[^<\\s][^<]*$' });

/** Where articles are: one of these. */
export const place = {
  feedId: s.optional(feedId),
  categoryId: s.optional(categoryId),
  labelId: s.optional(labelId),
  special: s.optional(
    s.choice(
      ['all', 'fresh', 'starred', 'published', 'archived', 'recently_read'],
      'Where none of the ids is given; all unless said.',
    ),
  ),
};
