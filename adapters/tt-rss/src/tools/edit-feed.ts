import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { order } from '../api.ts';
import { invalid } from '../failures.ts';
import { interval, intervals, isSubscribed, readSettings, settingsOutput } from '../feeds.ts';
import { categoryId, feedId, name } from '../shape.ts';
import { categoryMustExist } from '../tree.ts';

export const editFeed = defineTool({
  name: 'edit_feed',
  displayName: 'Edit feed',
  description:
    'Changes the name, the address, the category or the interval of a feed, and nothing else of it.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: s.parameters({
    feedId,
    name: s.optional(name('Its new name.')),
    url: s.optional(s.string('Its new address.', { pattern: '^https?://[^<\\s]+$' })),
    categoryId: s.optional(categoryId),
    updateEvery: s.optional(interval),
  }),
  output: settingsOutput,
  async handle({ feedId, name, url, categoryId, updateEvery }, { signal }) {
    if ([name, url, categoryId, updateEvery].every((one) => one === undefined))
      throw invalid('Say what to change: name, url, categoryId or updateEvery.');
    const now = await readSettings(feedId, signal);
    await categoryMustExist(categoryId, signal);
    if (url !== undefined && url !== now.url && (await isSubscribed(url, signal)))
      throw invalid('Another feed has that address already.', 'ALREADY_SUBSCRIBED');
    const change = {
      ids: feedId,
      title: name,
      feed_url: url,
      cat_id: categoryId,
      update_interval: updateEvery && intervals[updateEvery],
    };
    await order('Pref_Feeds.batchEditSave', change, signal);
    return readSettings(feedId, signal);
  },
});
