import { defineTool } from '@tabrelay/plugin-sdk';
import { asNumber, asText, objectAt, objectsIn } from '@tabrelay/plugin-sdk/json';
import { get } from '../api.ts';
import { limitInput, onlyPage, revision, revisionProperties, titleInput } from '../pages.ts';

export const pageHistory = defineTool({
  name: 'page_history',
  displayName: 'Page history',
  description: 'Who changed a page, when and with which summary, newest first.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      title: titleInput,
      limit: limitInput,
      olderThan: { type: 'string', description: 'From next of the answer before.' },
    },
    required: ['title'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      title: { type: 'string' },
      revisions: {
        type: 'array',
        items: {
          type: 'object',
          properties: { ...revisionProperties, size: { type: 'integer', description: 'In bytes.' } },
          required: ['revisionId', 'parentId', 'timestamp', 'user', 'comment', 'minor', 'size'],
        },
      },
      next: { type: 'string', description: 'Present when there are older revisions.' },
    },
    required: ['title', 'revisions'],
  },
  async handle({ title, limit, olderThan }, { signal }) {
    const answer = await get(
      {
        action: 'query',
        prop: 'revisions',
        titles: title,
        redirects: true,
        rvprop: ['ids', 'timestamp', 'user', 'comment', 'size', 'flags'],
        rvlimit: limit,
        rvcontinue: olderThan,
      },
      signal,
    );
    const page = onlyPage(answer, title);
    const next = asText(objectAt(answer, 'continue').rvcontinue);
    return {
      title: asText(page.title),
      revisions: objectsIn(page.revisions).map((one) => ({ ...revision(one), size: asNumber(one.size) })),
      ...(next ? { next } : {}),
    };
  },
});
