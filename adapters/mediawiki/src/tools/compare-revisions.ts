import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import { asNumber, asText, objectAt } from '@tabrelay/plugin-sdk/json';
import { get } from '../api.ts';
import { difference } from '../markup.ts';
import { piece, pieceInput, pieceOutput } from '../pages.ts';

export const compareRevisions = defineTool({
  name: 'compare_revisions',
  displayName: 'Compare revisions',
  description:
    'What changed between two revisions: lines starting with "-" went, with "+" came. Revision ids come from page_history.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      from: { type: 'integer', minimum: 1, description: 'A revision id.' },
      to: {
        type: 'integer',
        minimum: 1,
        description: 'A later revision id. Left out: the revision after `from`.',
      },
      ...pieceInput,
    },
    required: ['from'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      from: { type: 'integer' },
      to: { type: 'integer' },
      title: { type: 'string' },
      ...pieceOutput,
    },
    required: ['from', 'to', 'title', 'text', 'totalChars'],
  },
  async handle({ from, to, offset, maxChars }, { signal }) {
    const answer = await get(
      {
        action: 'compare',
        fromrev: from,
        ...(to === undefined ? { torelative: 'next' } : { torev: to }),
        prop: ['diff', 'ids', 'title'],
      },
      signal,
    );
    const compared = objectAt(answer, 'compare');
    if (compared.torevid === undefined)
      throw ToolError.notFound(`${from} is the newest revision of its page.`);
    return {
      from: asNumber(compared.fromrevid),
      to: asNumber(compared.torevid),
      title: asText(compared.totitle),
      ...piece(difference(asText(compared.body)), offset, maxChars),
    };
  },
});
