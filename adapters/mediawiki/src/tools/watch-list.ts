import { defineTool } from '@tabrelay/plugin-sdk';
import { asText, objectAt, objectsIn } from '@tabrelay/plugin-sdk/json';
import { get } from '../api.ts';
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
  async handle({ limit, olderThan }, { signal }) {
    const answer = await get(
      {
        action: 'query',
        assert: 'user',
        list: 'watchlist',
        wlprop: ['ids', 'title', 'timestamp', 'user', 'comment', 'flags'],
        wlallrev: true,
        wllimit: limit,
        wlcontinue: olderThan,
      },
      signal,
    );
    const next = asText(objectAt(answer, 'continue').wlcontinue);
    return {
      changes: objectsIn(objectAt(answer, 'query').watchlist).map((one) => ({
        title: asText(one.title),
        ...revision({ ...one, parentid: one.old_revid }),
      })),
      ...(next ? { next } : {}),
    };
  },
});
