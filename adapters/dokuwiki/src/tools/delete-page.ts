import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { edit, mustBeAt } from '../edit.ts';
import { noSuchPage } from '../failures.ts';
import { baseInput, idInput, summaryInput } from '../pages.ts';

export const deletePage = defineTool({
  name: 'delete_page',
  displayName: 'Delete page',
  description:
    'Deletes a page in the name of the signed-in person. Its history stays: revert_page brings it back. ' +
    'Links to it stay too; backlinks lists them.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  input: s.parameters({ id: idInput, baseRevision: baseInput, summary: summaryInput }),
  output: s.object({
    id: s.string(),
    revision: s.integer('Of the deletion: the base for bringing it back.'),
    lastRevision: s.integer('The last one with a text: what to bring back.'),
  }),
  async handle({ id, baseRevision, summary }, { signal }) {
    const deleted = await edit(
      { id },
      async (editor) => {
        await mustBeAt(baseRevision, editor, signal);
        if (editor.date === 0) throw noSuchPage(editor.id);
        return { text: '', summary };
      },
      signal,
    );
    return { id: deleted.id, revision: deleted.revision, lastRevision: baseRevision };
  },
});
