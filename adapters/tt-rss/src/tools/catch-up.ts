import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { act } from '../api.ts';
import { invalid } from '../failures.ts';
import { place } from '../shape.ts';
import { categoryMustExist, feedWithId, labelWithId, readCounters } from '../tree.ts';
import { feedOf } from '../view.ts';

const ages = { day: '1day', week: '1week', two_weeks: '2week', any: 'all' } as const;

export const catchUp = defineTool({
  name: 'catch_up',
  displayName: 'Catch up',
  description:
    'Marks everything in a feed, category or label, or everywhere, as read that arrived before ' +
    'a day, a week or two weeks ago, or all of it. What was unread is not kept: ask the person ' +
    'first. For single articles use mark_news.',
  annotations: { readOnlyHint: false, destructiveHint: true },
  input: s.parameters({
    feedId: place.feedId,
    categoryId: place.categoryId,
    labelId: place.labelId,
    special: s.optional(
      s.choice(['all', 'fresh', 'starred', 'published'], 'Where none of the ids is given.'),
    ),
    olderThan: s.choice(['day', 'week', 'two_weeks', 'any'], 'any: however new.'),
  }),
  output: s.object({
    marked: s.integer('How many became read.'),
    unread: s.integer('How many are unread now, everywhere.'),
  }),
  async handle({ olderThan, ...where }, { signal }) {
    const { feed, isCategory } = feedOf(where);
    if (Object.values(where).every((one) => one === undefined))
      throw invalid('Say where: feedId, categoryId, labelId, or special: all for everywhere.');
    if (where.feedId !== undefined) await feedWithId(where.feedId, signal);
    if (where.labelId !== undefined) await labelWithId(where.labelId, signal);
    await categoryMustExist(where.categoryId, signal);
    const before = await readCounters(signal);
    const what = { feed_id: feed, is_cat: isCategory, mode: ages[olderThan] };
    await act('RPC.catchupFeed', { ...what, search_query: '', search_lang: '' }, { signal });
    const { total } = await readCounters(signal);
    return { marked: Math.max(0, before.total - total), unread: total };
  },
});
