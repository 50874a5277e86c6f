import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { act } from '../api.ts';
import { categoryId } from '../shape.ts';
import { refusal } from '../subscription.ts';
import { categoryMustExist, feedWithId } from '../tree.ts';

export const subscribe = defineTool({
  name: 'subscribe',
  displayName: 'Subscribe',
  description:
    'Subscribes to a feed, by its address or that of its site. Its news come ' +
    'with its first update: update_feed fetches them at once. The person subscribes to feeds ' +
    'with a password.',
  annotations: { readOnlyHint: false, destructiveHint: false, openWorldHint: true },
  timeoutMs: 60_000,
  input: s.parameters({
    url: s.string('An address with http or https.', { pattern: '^https?://[^<\\s]+$' }),
    categoryId: s.optional(categoryId),
  }),
  output: s.object({ feedId: s.integer(), name: s.string(), category: s.string() }),
  async handle({ url, categoryId = 0 }, { signal }) {
    await categoryMustExist(categoryId, signal);
    const wanted = { feed: url, cat: categoryId };
    const result = (await act('RPC.addfeed', wanted, { signal, timeout: 55_000 })).at('result');
    if (result.number('code') !== 1) throw refusal(url, result);
    const { id, name, category } = await feedWithId(result.number('feed_id'), signal);
    return { feedId: id, name, category };
  },
});
