import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { readSettings, settingsOutput } from '../feeds.ts';
import { feedId } from '../shape.ts';

export const readFeed = defineTool({
  name: 'read_feed',
  displayName: 'Read feed',
  description: 'The settings of a feed: its address, category and how often it is updated.',
  annotations: { readOnlyHint: true },
  input: s.parameters({ feedId }),
  output: settingsOutput,
  handle: ({ feedId }, { signal }) => readSettings(feedId, signal),
});
