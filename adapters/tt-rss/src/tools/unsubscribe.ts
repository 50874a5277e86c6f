import { defineTool } from '@tabrelay/plugin-sdk';
import { invalidResponse } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { order } from '../api.ts';
import { feedId } from '../shape.ts';
import { feedWithId, readTree } from '../tree.ts';

export const unsubscribe = defineTool({
  name: 'unsubscribe',
  displayName: 'Unsubscribe',
  description:
    'Removes a feed and its articles for good; starred ones are kept in the archive. Ask the ' +
    'person first.',
  annotations: { readOnlyHint: false, destructiveHint: true },
  input: s.parameters({ feedId }),
  output: s.object({ removed: s.string('The name of the feed.') }),
  async handle({ feedId }, { signal }) {
    const { name } = await feedWithId(feedId, signal);
    await order('Pref_Feeds.remove', { ids: feedId }, signal);
    if ((await readTree(signal)).feeds.some(({ id }) => id === feedId))
      throw invalidResponse('the feed is still there', 'not_executed');
    return { removed: name };
  },
});
