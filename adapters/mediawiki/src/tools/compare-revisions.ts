import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import { textInput, textOutput, textPage } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';
import { difference } from '../markup.ts';

export const compareRevisions = defineTool({
  name: 'compare_revisions',
  displayName: 'Compare revisions',
  description:
    'What changed between two revisions: lines starting with "-" went, with "+" came. ' +
    'Revision ids come from page_history.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    from: s.integer('A revision id.', { minimum: 1 }),
    to: s.optional(
      s.integer('A later revision id. Left out: the revision after `from`.', { minimum: 1 }),
    ),
    ...textInput,
  }),
  output: s.object({
    from: s.integer(),
    to: s.integer(),
    title: s.string(),
    ...textOutput,
  }),
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
    if (
      to === undefined &&
      compared.maybe('torevid') === undefined &&
      compared.string('body') === ''
    )
      throw ToolError.notFound(`${from} is the newest revision of its page.`);
    const about = { ...facts, to: compared.number('torevid'), title: compared.string('totitle') };
    const text = difference(compared.string('body'));
    return textPage(text, { offset, maxChars, maxBytes }, (part) => ({ ...about, ...part }));
  },
});
