import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { list } from '../api.ts';
import { limitInput, revision, revisionProperties } from '../pages.ts';

export const watchList = defineTool({
  name: 'watch_list',
  displayName: 'Watch list',
  description: 'The latest changes to the pages that the person watches, newest first.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    limit: limitInput,
    olderThan: s.optional(s.string('From next of the previous answer.')),
  }),
  output: s.object({
    changes: s.array(
      s.object({
        title: s.string(),
        ...revisionProperties,
      }),
    ),
    next: s.optional(s.string('Present when there are older changes.')),
  }),
  handle({ limit, olderThan: after }, { signal, maxBytes }) {
    const params = {
      action: 'query',
      assert: 'user',
      list: 'watchlist',
      wlprop: ['ids', 'title', 'timestamp', 'user', 'comment', 'flags'],
      wlallrev: true,
    };
    const read = (answer: JsonReader) =>
      answer
        .list('query', 'watchlist')
        .map((one) => ({ title: one.string('title'), ...revision(one, 'old_revid') }));
    return list(
      'wl',
      { limit, after, maxBytes },
      params,
      read,
      (changes, rest) => ({ changes, ...rest }),
      signal,
    );
  },
});
