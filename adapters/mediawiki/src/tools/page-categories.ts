import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { list } from '../api.ts';
import { limitInput, onlyPage, titleInput } from '../pages.ts';

export const pageCategories = defineTool({
  name: 'page_categories',
  displayName: 'Categories of a page',
  description: 'Which categories a page is in. Their names can be passed to category_members.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      title: titleInput,
      limit: { ...limitInput, default: 50 },
      after: { type: 'string', description: 'From next of the answer before.' },
    },
    required: ['title'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      title: { type: 'string' },
      categories: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            name: { type: 'string', description: 'Without the prefix "Category:".' },
            hidden: { type: 'boolean', description: 'Readers do not see it: it serves the editors.' },
          },
          required: ['name', 'hidden'],
        },
      },
      next: { type: 'string', description: 'Present when there are more.' },
    },
    required: ['title', 'categories'],
  },
  handle({ title, limit, after }, { signal, maxBytes }) {
    const params = { action: 'query', prop: 'categories', titles: title, redirects: true, clprop: 'hidden' };
    let named = title;
    const read = (answer: JsonReader) => {
      const page = onlyPage(answer, title);
      named = page.string('title');
      // The list is left out where it is empty; a page that exists has an id.
      const categories = page.number('pageid') && (page.maybe('categories')?.list() ?? []);
      return (categories || []).map((one) => ({
        name: one.string('title').replace(/^[^:]*:/, ''),
        hidden: one.boolean('hidden'),
      }));
    };
    const answer = (categories: ReturnType<typeof read>, rest: object) => ({
      title: named,
      categories,
      ...rest,
    });
    return list('cl', { limit, after, maxBytes }, params, read, answer, signal);
  },
});
