import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { nextOffset, paging } from '../shape.ts';
import { readCounters, readTree } from '../tree.ts';

export const listCategories = defineTool({
  name: 'list_categories',
  displayName: 'List categories',
  description: 'Lists the categories that feeds are sorted into.',
  annotations: { readOnlyHint: true },
  input: s.parameters(paging),
  output: s.object({
    total: s.integer(),
    categories: s.array(
      s.object({
        id: s.integer(),
        name: s.string(),
        parentId: s.optional(s.integer('The category above it.')),
        feeds: s.integer('Without those of categories below it.'),
        unread: s.integer('With those of categories below it.'),
      }),
    ),
    nextOffset,
  }),
  async handle(part, { signal, maxBytes }) {
    const [tree, counters] = await Promise.all([readTree(signal), readCounters(signal)]);
    const all = tree.categories.map((one) => ({ ...one, unread: counters.ofCategory(one.id) }));
    return listPage(all, { ...part, maxBytes }, (categories, more) => ({ categories, ...more }));
  },
});
