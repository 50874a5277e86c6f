import { defineTool } from '@tabrelay/plugin-sdk';
import { asText, isTrue, objectAt, objectsIn } from '@tabrelay/plugin-sdk/json';
import { get } from '../api.ts';
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
  async handle({ title, limit, after }, { signal }) {
    const answer = await get(
      {
        action: 'query',
        prop: 'categories',
        titles: title,
        redirects: true,
        clprop: 'hidden',
        cllimit: limit,
        clcontinue: after,
      },
      signal,
    );
    const page = onlyPage(answer, title);
    const next = asText(objectAt(answer, 'continue').clcontinue);
    return {
      title: asText(page.title),
      categories: objectsIn(page.categories).map((one) => ({
        name: asText(one.title).replace(/^[^:]*:/, ''),
        hidden: isTrue(one.hidden),
      })),
      ...(next ? { next } : {}),
    };
  },
});
