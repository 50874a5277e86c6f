import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { list } from '../api.ts';
import { limitInput, onlyPage, titleInput } from '../pages.ts';

export const pageCategories = defineTool({
  name: 'page_categories',
  displayName: 'Categories of a page',
  description: 'Which categories a page is in. Their names can be passed to category_members.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    title: titleInput,
    limit: { ...limitInput, default: 50 },
    after: s.optional(s.string('From next of the previous answer.')),
  }),
  output: s.object({
    title: s.string(),
    categories: s.array(
      s.object({
        name: s.string('Without the prefix "Category:".'),
        hidden: s.boolean('Readers do not see it: it serves the editors.'),
      }),
    ),
    next: s.optional(s.string('Present when there are more.')),
  }),
  handle({ title, limit, after }, { signal, maxBytes }) {
    const params = {
      action: 'query',
      prop: 'categories',
      titles: title,
      redirects: true,
      clprop: 'hidden',
    };
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
