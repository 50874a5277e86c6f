import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { list } from '../api.ts';
import { limitInput } from '../pages.ts';

export const categoryMembers = defineTool({
  name: 'category_members',
  displayName: 'Members of a category',
  description: 'The pages, subcategories and files in a category. An unknown one has none.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    category: s.string('Its name without "Category:", as page_categories answers it.', {
      minLength: 1,
    }),
    kind: s.choice(['all', 'page', 'subcat', 'file'], 'Only pages, subcategories or files.', {
      default: 'all',
    }),
    limit: limitInput,
    after: s.optional(s.string('From next of the previous answer.')),
  }),
  output: s.object({
    members: s.array(
      s.object({
        title: s.string(),
        kind: s.choice(['page', 'subcat', 'file']),
      }),
    ),
    next: s.optional(s.string('Present when there are more.')),
  }),
  handle({ category, kind, limit, after }, { signal, maxBytes }) {
    const params = {
      action: 'query',
      list: 'categorymembers',
      cmtitle: `Category:${category.replace(/^category:/i, '')}`,
      cmtype: kind === 'all' ? ['page', 'subcat', 'file'] : kind,
      cmprop: ['title', 'type'],
    };
    const read = (answer: JsonReader) =>
      answer
        .list('query', 'categorymembers')
        .map((one) => ({ title: one.string('title'), kind: kindOf(one) }));
    return list(
      'cm',
      { limit, after, maxBytes },
      params,
      read,
      (members, rest) => ({ members, ...rest }),
      signal,
    );
  },
});

function kindOf(from: JsonReader): 'page' | 'subcat' | 'file' {
  const type = from.string('type');
  return type === 'page' || type === 'subcat' || type === 'file'
    ? type
    : from.at('type').fail('is not a kind of member');
}
