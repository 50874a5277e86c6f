import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { send } from '../api.ts';
import { unreachable } from '../failures.ts';
import { feedId } from '../shape.ts';
import { feedWithId, readCounters } from '../tree.ts';

export const updateFeed = defineTool({
  name: 'update_feed',
  displayName: 'Update feed',
  description:
    'Fetches a feed now, and says how many unread articles came of it, or why it could not ' +
    'be fetched. What the reader fetched half a minute ago it takes once more.',
  annotations: {
    readOnlyHint: false,
    destructiveHint: false,
    idempotentHint: true,
    openWorldHint: true,
  },
  timeoutMs: 90_000,
  input: s.parameters({ feedId }),
  output: s.object({ name: s.string(), newUnread: s.integer(), unread: s.integer() }),
  async handle({ feedId }, { signal }) {
    await feedWithId(feedId, signal);
    const before = (await readCounters(signal)).ofFeed(feedId);
    const now = { feed_id: feedId, action: 'do_update' };
    await send('Feeds.update_debugger', now, { signal, timeout: 80_000 });
    const { name, error } = await feedWithId(feedId, signal);
    if (error !== '') throw unreachable(`the feed ${name}`, error, 'executed');
    const unread = (await readCounters(signal)).ofFeed(feedId);
    return { name, newUnread: Math.max(0, unread - before), unread };
  },
});
