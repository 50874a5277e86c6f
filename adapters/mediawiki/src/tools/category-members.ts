import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { list } from '../api.ts';
import { limitInput } from '../pages.ts';

export const categoryMembers = defineTool({
  name: 'category_members',
  displayName: 'Members of a category',
  description: 'The pages, subcategories and files in a category, in its own order. An unknown one has none.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      category: {
        type: 'string',
        minLength: 1,
        description: 'Its name without "Category:", as page_categories answers it.',
      },
      kind: {
        type: 'string',
        enum: ['all', 'page', 'subcat', 'file'],
        default: 'all',
        description: 'Only pages, subcategories or files.',
      },
      limit: limitInput,
      after: { type: 'string', description: 'From next of the answer before.' },
    },
    required: ['category'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      members: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            title: { type: 'string' },
            kind: { type: 'string', enum: ['page', 'subcat', 'file'] },
          },
          required: ['title', 'kind'],
        },
      },
      next: { type: 'string', description: 'Present when there are more.' },
    },
    required: ['members'],
  },
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
    : from.at('type').fail('is no kind of member');
}
