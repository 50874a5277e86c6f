import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { edit, mustBeAt, savedOutput } from '../edit.ts';
import { baseInput, idInput, source, summaryInput } from '../pages.ts';

export const revertPage = defineTool({
  name: 'revert_page',
  displayName: 'Revert page',
  description:
    'Saves the text of an old revision anew, in the name of the signed-in person: undoes what came after ' +
    'it, or brings a deleted page back. Nothing leaves the history.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: false },
  input: s.parameters({
    id: idInput,
    revision: s.integer('The one to bring back, from page_history.', { minimum: 1 }),
    baseRevision: baseInput,
    summary: summaryInput,
  }),
  output: savedOutput,
  async handle({ id, revision, baseRevision, summary }, { signal }) {
    const text = await source(id, revision, signal);
    const write = async (editor: Parameters<typeof mustBeAt>[1]) => {
      await mustBeAt(baseRevision, editor, signal);
      return { text, summary };
    };
    return edit({ id, revision }, write, signal);
  },
});
