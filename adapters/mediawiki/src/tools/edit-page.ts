import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';
import { save, savedOutput } from '../edit.ts';
import { onlyPage, shownTo, titleInput } from '../pages.ts';

export const editPage = defineTool({
  name: 'edit_page',
  displayName: 'Edit page',
  description:
    'Replaces the text of a page, or of one section, in the name of the signed-in person. ' +
    'Call read_page first and pass its revisionId: when the page has changed since, the ' +
    'answer is EDIT_CONFLICT and nothing is changed.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  input: s.parameters({
    title: titleInput,
    baseRevisionId: s.integer('The revisionId that read_page answered.', { minimum: 1 }),
    text: s.string('The whole new wikitext of the page, or of the section with its heading.'),
    section: s.optional(s.integer('Replace only this section.', { minimum: 0 })),
    summary: s.string('Shown in the history.', { maxLength: 500, default: '' }),
    minor: s.boolean('Marked as a small change.', { default: false }),
  }),
  output: savedOutput,
  async handle({ title, baseRevisionId, text: wikitext, section, summary, minor }, { signal }) {
    const base = await current(title, signal);
    // The wiki forgives a person for overwriting their own newer edit, and merges edits of others where it can.
    // An agent's text was made from the base it read, and "own" edits are the person's: so any newer revision stops it.
    if (base.revisionId !== baseRevisionId) {
      throw new ToolError(
        `"${title}" has changed since revision ${baseRevisionId}: ` +
          `it is now at ${base.revisionId}, by ${base.user}. ` +
          'Nothing was changed. Read the page again and apply the change to its new text.',
        'EDIT_CONFLICT',
        { category: 'validation', outcome: 'not_executed' },
      );
    }
    return save(
      {
        title,
        text: wikitext,
        summary,
        minor,
        section,
        nocreate: true,
        baserevid: baseRevisionId,
        basetimestamp: base.timestamp,
        starttimestamp: base.seen,
      },
      signal,
    );
  },
});

async function current(title: string, signal: AbortSignal) {
  const answer = await get(
    {
      action: 'query',
      prop: 'revisions',
      titles: title,
      rvprop: ['ids', 'timestamp', 'user'],
      curtimestamp: true,
    },
    signal,
  );
  const newest = onlyPage(answer, title).first('revisions');
  return {
    revisionId: newest.number('revid'),
    timestamp: newest.string('timestamp'),
    user: shownTo(newest, 'user') || 'a hidden user',
    seen: answer.string('curtimestamp'),
  };
}
