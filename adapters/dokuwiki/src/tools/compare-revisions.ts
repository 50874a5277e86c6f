import { defineTool } from '@tabrelay/plugin-sdk';
import { textInput, textOutput, textPage } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { open } from '../api.ts';
import { difference } from '../diff.ts';
import { existing, idInput, source } from '../pages.ts';

export const compareRevisions = defineTool({
  name: 'compare_revisions',
  displayName: 'Compare revisions',
  description:
    'What changed between two revisions of a page: lines starting with "-" went, with "+" came. ' +
    'Revisions come from page_history.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    id: idInput,
    from: s.integer('The older revision.', { minimum: 1 }),
    to: s.optional(s.integer('A later one. Left out: the newest.', { minimum: 1 })),
    ...textInput,
  }),
  output: s.object({ id: s.string(), from: s.integer(), to: s.integer(), ...textOutput }),
  async handle({ id, from, to, offset, maxChars }, { signal, maxBytes }) {
    const page = to === undefined ? await existing(id, signal) : { id, newest: { revision: to } };
    const until = page.newest.revision;
    // Of a revision that is not there the wiki shows all lines as new, or as gone.
    for (const revision of [from, until]) await source(page.id, revision, signal);
    const asked = {
      do: 'diff',
      id: page.id,
      'rev2[0]': from,
      'rev2[1]': until,
      difftype: 'sidebyside',
    };
    const shown = await open(asked, signal);
    const about = { id: shown.id, from, to: until };
    const text = difference(shown.page);
    return textPage(text, { offset, maxChars, maxBytes }, (part) => ({ ...about, ...part }));
  },
});
