import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import { textInput, textOutput, textPage } from '@tabrelay/plugin-sdk/paging';
import { get } from '../api.ts';
import { difference } from '../markup.ts';

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
      ...textInput,
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
      ...textOutput,
    },
    required: ['from', 'to', 'title', 'text', 'totalChars'],
  },
  async handle({ from, to, offset, maxChars }, { signal, maxBytes }) {
    const answer = await get(
      {
        action: 'compare',
        fromrev: from,
        ...(to === undefined ? { torelative: 'next' } : { torev: to }),
        prop: ['diff', 'ids', 'title'],
      },
      signal,
    );
    const compared = answer.at('compare');
    const facts = { from: compared.number('fromrevid') };
    if (to === undefined && compared.maybe('torevid') === undefined && compared.string('body') === '')
      throw ToolError.notFound(`${from} is the newest revision of its page.`);
    const about = { ...facts, to: compared.number('torevid'), title: compared.string('totitle') };
    const text = difference(compared.string('body'));
    return textPage(text, { offset, maxChars, maxBytes }, (part) => ({ ...about, ...part }));
  },
});
