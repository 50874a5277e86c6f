import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import { changedText, replaceInput } from '@tabrelay/plugin-sdk/editing';
import * as s from '@tabrelay/plugin-sdk/schema';
import { newestRevision, save, savedOutput } from '../edit.ts';
import { titleInput } from '../pages.ts';

export const editPage = defineTool({
  name: 'edit_page',
  displayName: 'Edit page',
  description:
    'Changes a page or a section: a part of its text (oldText, newText), or all of it (text). ' +
    'Pass the revisionId of read_page: when the page has changed since, the answer is ' +
    'EDIT_CONFLICT and nothing is changed.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  input: s.parameters({
    title: titleInput,
    baseRevisionId: s.integer('The revisionId that read_page answered.', { minimum: 1 }),
    text: s.optional(
      s.string('The whole new wikitext of the page, or of the section with its heading.'),
    ),
    ...replaceInput,
    section: s.optional(s.integer('Change only this section.', { minimum: 0 })),
    summary: s.string('Shown in the history.', { maxLength: 500, default: '' }),
    minor: s.boolean('Marked as a small change.', { default: false }),
  }),
  output: savedOutput,
  async handle({ title, baseRevisionId, section, summary, minor, ...change }, { signal }) {
    const partial = change.oldText !== undefined;
    const base = await newestRevision(title, { section, withText: partial }, signal);
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
        text: await changedText(change, base.text),
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
