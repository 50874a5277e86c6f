import { defineTool } from '@tabrelay/plugin-sdk';
import { fitting } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { history } from '../changes.ts';
import { noSuchPage } from '../failures.ts';
import { changeProperties, idInput } from '../pages.ts';

export const pageHistory = defineTool({
  name: 'page_history',
  displayName: 'Page history',
  description:
    'Who changed a page, when and with which summary, newest first. Deleted pages have one too.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    id: idInput,
    limit: s.integer('How many revisions.', { minimum: 1, maximum: 100, default: 10 }),
    olderThan: s.optional(s.string('From next of the previous answer.')),
  }),
  output: s.object({
    id: s.string(),
    revisions: s.array(
      s.object({
        revision: s.integer(),
        timestamp: s.string(),
        gone: s.boolean('It has no text: the page was deleted, or the text is not kept.'),
        ...changeProperties,
      }),
    ),
    next: s.optional(s.string('Present when there are older revisions.')),
  }),
  async handle({ id: name, limit, olderThan }, { signal, maxBytes }) {
    const { id, items, next } = await history(name, { limit, olderThan }, signal);
    if (items.length === 0 && olderThan === undefined) throw noSuchPage(id);
    const make = (count: number) => ({ id, revisions: items.slice(0, count), ...next(count) });
    return make(fitting(items.length, { maxBytes }, make));
  },
});
