import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { list } from '../api.ts';
import { limitInput, revision, revisionProperties } from '../pages.ts';

export const watchList = defineTool({
  name: 'watch_list',
  displayName: 'Watch list',
  description: 'The latest changes to the pages that the signed-in person watches, newest first.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      limit: limitInput,
      olderThan: { type: 'string', description: 'From next of the answer before.' },
    },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      changes: {
        type: 'array',
        items: {
          type: 'object',
          properties: { title: { type: 'string' }, ...revisionProperties },
          required: ['title', 'revisionId', 'parentId', 'timestamp', 'user', 'comment', 'minor'],
        },
      },
      next: { type: 'string', description: 'Present when there are older changes.' },
    },
    required: ['changes'],
  },
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
