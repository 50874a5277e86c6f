import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { categoryId, nextOffset, paging } from '../shape.ts';
import { categoryMustExist, readCounters, readTree } from '../tree.ts';

export const listFeeds = defineTool({
  name: 'list_feeds',
  displayName: 'List feeds',
  description:
    'Lists or finds the feeds the person is subscribed to, with what is unread, when each was ' +
    'updated, and why it failed. read_feed has its address.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    categoryId: s.optional(categoryId),
    query: s.optional(s.string('Part of the name.', { minLength: 1 })),
    only: s.choice(['all', 'unread', 'failing'], 'Which to list.', { default: 'all' }),
    ...paging,
  }),
  output: s.object({
    total: s.integer(),
    feeds: s.array(
      s.object({
        id: s.integer(),
        name: s.string(),
        category: s.string(),
        unread: s.integer(),
        updated: s.string('As the reader shows it to the person.'),
        error: s.optional(s.string('Why the last update failed.')),
        paused: s.optional(s.boolean('Never updated by itself.')),
      }),
    ),
    nextOffset,
  }),
  async handle({ categoryId, query, only, ...part }, { signal, maxBytes }) {
    await categoryMustExist(categoryId, signal);
    const [tree, counters] = await Promise.all([readTree(signal), readCounters(signal)]);
    const wanted = query?.toLowerCase() ?? '';
    const found = tree.feeds
      .map((one) => ({ ...one, unread: counters.ofFeed(one.id) }))
      .filter(
        (one) =>
          (categoryId === undefined || one.categoryId === categoryId) &&
          one.name.toLowerCase().includes(wanted) &&
          (only !== 'unread' || one.unread > 0) &&
          (only !== 'failing' || one.error !== ''),
      )
      .map(({ id, name, category, unread, updated, error, paused }) => ({
        ...{ id, name, category, unread, updated },
        ...{ error: error || undefined, paused: paused || undefined },
      }));
    return listPage(found, { ...part, maxBytes }, (feeds, more) => ({ feeds, ...more }));
  },
});
