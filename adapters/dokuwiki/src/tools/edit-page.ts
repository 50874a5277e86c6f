import { defineTool } from '@tabrelay/plugin-sdk';
import { changedText, replaceInput } from '@tabrelay/plugin-sdk/editing';
import * as s from '@tabrelay/plugin-sdk/schema';
import { edit, mustBeAt, savedOutput } from '../edit.ts';
import { invalid, noSuchPage } from '../failures.ts';
import { baseInput, idInput, source, summaryInput } from '../pages.ts';

export const editPage = defineTool({
  name: 'edit_page',
  displayName: 'Edit page',
  description:
    'Changes the text of a page in the name of the signed-in person: a part of it (oldText, newText), or ' +
    'all of it (text). Call read_page first and pass its revision: when the page has changed since, the ' +
    'answer is EDIT_CONFLICT and nothing is changed.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  input: s.parameters({
    id: idInput,
    baseRevision: baseInput,
    text: s.optional(s.string('The whole new source of the page.')),
    ...replaceInput,
    summary: summaryInput,
    minor: s.boolean('Marked as a small change.', { default: false }),
  }),
  output: savedOutput,
  handle: ({ id, baseRevision, summary, minor, ...change }, { signal }) =>
    edit(
      { id },
      async (editor) => {
        await mustBeAt(baseRevision, editor, signal);
        if (editor.date === 0) throw noSuchPage(editor.id);
        const text = await changedText(change, () => source(editor.id, undefined, signal));
        if (text.trim() === '')
          throw invalid('A page without text is deleted: use delete_page for that.');
        return { text, summary, minor };
      },
      signal,
    ),
});
