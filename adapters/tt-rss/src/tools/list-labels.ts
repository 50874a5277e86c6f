import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { nextOffset, paging } from '../shape.ts';
import { feedOfLabel, readCounters, readLabels } from '../tree.ts';

export const listLabels = defineTool({
  name: 'list_labels',
  displayName: 'List labels',
  description: 'Lists the labels that the person puts on articles.',
  annotations: { readOnlyHint: true },
  input: s.parameters(paging),
  output: s.object({
    total: s.integer(),
    labels: s.array(
      s.object({
        id: s.integer(),
        name: s.string(),
        articles: s.integer(),
        unread: s.integer(),
      }),
    ),
    nextOffset,
  }),
  async handle(part, { signal, maxBytes }) {
    const [labels, counters] = await Promise.all([readLabels(signal), readCounters(signal)]);
    const all = labels.map(({ id, name }) => ({
      id,
      name,
      articles: counters.articles(feedOfLabel(id)),
      unread: counters.ofFeed(feedOfLabel(id)),
    }));
    return listPage(all, { ...part, maxBytes }, (some, more) => ({ labels: some, ...more }));
  },
});
