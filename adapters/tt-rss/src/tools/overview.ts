import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { nextOffset, paging } from '../shape.ts';
import { readCounters, readTree } from '../tree.ts';

export const overview = defineTool({
  name: 'overview',
  displayName: 'Overview',
  description:
    'How much is unread: in all, fresh, and in each feed that has something unread, most first; ' +
    'how many feeds fail. The place to begin.',
  annotations: { readOnlyHint: true },
  input: s.parameters({ ...paging, limit: { ...paging.limit, default: 30 } }),
  output: s.object({
    unread: s.integer(),
    fresh: s.integer('Unread of the last day, or as the person set it.'),
    starred: s.integer('Articles, read ones too.'),
    published: s.integer('Articles, read ones too.'),
    feeds: s.array(
      s.object({ id: s.integer(), name: s.string(), category: s.string(), unread: s.integer() }),
    ),
    totalFeeds: s.integer('How many have something unread.'),
    failing: s.integer('Feeds whose last update failed: list_feeds with only failing.'),
    nextOffset,
  }),
  async handle({ limit, offset }, { signal, maxBytes }) {
    const [tree, counters] = await Promise.all([readTree(signal), readCounters(signal)]);
    const unread = tree.feeds
      .map(({ id, name, category }) => ({ id, name, category, unread: counters.ofFeed(id) }))
      .filter((one) => one.unread > 0)
      .sort((a, b) => b.unread - a.unread);
    return listPage(unread, { limit, offset, maxBytes }, (feeds, { total, ...more }) => ({
      unread: counters.total,
      fresh: counters.ofFeed(-3),
      starred: counters.articles(-1),
      published: counters.articles(-2),
      feeds,
      totalFeeds: total,
      failing: tree.feeds.filter(({ error }) => error !== '').length,
      ...more,
    }));
  },
});
