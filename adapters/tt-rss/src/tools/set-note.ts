import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { act } from '../api.ts';
import { articleWithId } from '../articles.ts';
import { articleId } from '../shape.ts';

export const setNote = defineTool({
  name: 'set_note',
  displayName: 'Set note',
  description: "Writes the person's note on an article in place of the one that is there.",
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: s.parameters({
    id: articleId,
    note: s.string('Plain text; empty takes the note off.', { maxLength: 10_000 }),
  }),
  output: s.object({ id: s.integer(), chars: s.integer('How long the note is now.') }),
  async handle({ id, note }, { signal }) {
    await articleWithId(id, signal);
    // The reader takes out what could be a tag, and shows the rest as HTML.
    const html = note.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    await act('PluginHandler.setNote', { plugin: 'note', id, note: html }, { signal });
    return { id, chars: note.trim().length };
  },
});
