import { defineTool } from '@tabrelay/plugin-sdk';
import { textInput, textOutput, textPage } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { existing, idInput, nameOf, source } from '../pages.ts';

export const readPage = defineTool({
  name: 'read_page',
  displayName: 'Read page source',
  description:
    'The source (wiki markup) of a page, with the revision that edit_page needs; or of an old revision.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    id: idInput,
    revision: s.optional(s.integer('An old one, from page_history.', { minimum: 1 })),
    ...textInput,
  }),
  output: s.object({
    id: s.string(),
    revision: s.integer('Hand it to edit_page as baseRevision, unless you asked for an old one.'),
    user: s.optional(s.string('Who saved the newest revision.')),
    ...textOutput,
  }),
  async handle({ id, revision, offset, maxChars }, { signal, maxBytes }) {
    if (revision !== undefined) {
      const about = { id: nameOf(id), revision };
      const text = await source(about.id, revision, signal);
      return textPage(text, { offset, maxChars, maxBytes }, (part) => ({ ...about, ...part }));
    }
    // The revision goes first: when somebody saves in between, an edit of this text is a conflict.
    const page = await existing(id, signal);
    const about = { id: page.id, revision: page.newest.revision, user: page.newest.user };
    const text = await source(page.id, undefined, signal);
    return textPage(text, { offset, maxChars, maxBytes }, (part) => ({ ...about, ...part }));
  },
});
