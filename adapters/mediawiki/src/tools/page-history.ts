import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { list } from '../api.ts';
import { limitInput, onlyPage, revision, revisionProperties, titleInput } from '../pages.ts';

export const pageHistory = defineTool({
  name: 'page_history',
  displayName: 'Page history',
  description: 'Who changed a page, when and with which summary, newest first.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    title: titleInput,
    limit: limitInput,
    olderThan: s.optional(s.string('From next of the previous answer.')),
  }),
  output: s.object({
    title: s.string(),
    revisions: s.array(
      s.object({
        ...revisionProperties,
        size: s.integer('In bytes.'),
      }),
    ),
    next: s.optional(s.string('Present when there are older revisions.')),
  }),
  handle({ title, limit, olderThan: after }, { signal, maxBytes }) {
    const rvprop = ['ids', 'timestamp', 'user', 'comment', 'size', 'flags'];
    const params = { action: 'query', prop: 'revisions', titles: title, redirects: true, rvprop };
    let named = title;
    const read = (answer: JsonReader) => {
      const page = onlyPage(answer, title);
      named = page.string('title');
      return page
        .list('revisions')
        .map((one) => ({ ...revision(one, 'parentid'), size: one.number('size') }));
    };
    const answer = (revisions: ReturnType<typeof read>, rest: object) => ({
      title: named,
      revisions,
      ...rest,
    });
    return list('rv', { limit, after, maxBytes }, params, read, answer, signal);
  },
});
