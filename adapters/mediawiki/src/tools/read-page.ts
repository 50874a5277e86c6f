import { defineTool } from '@tabrelay/plugin-sdk';
import { textOutput, textPage } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';
import { onlyPage, readInput, wikitext } from '../pages.ts';

export const readPage = defineTool({
  name: 'read_page',
  displayName: 'Read wikitext',
  description:
    'The source (wikitext) of a page, with the revisionId that edit_page needs. To only ' +
    'read an article, read_rendered is shorter.',
  annotations: { readOnlyHint: true },
  input: readInput(),
  output: s.object({
    title: s.string(),
    revisionId: s.integer('Hand it to edit_page as baseRevisionId.'),
    timestamp: s.string(),
    contentModel: s.string(),
    ...textOutput,
  }),
  async handle({ title, section, offset, maxChars }, { signal, maxBytes }) {
    const answer = await get(
      {
        action: 'query',
        prop: 'revisions',
        titles: title,
        redirects: true,
        rvprop: ['ids', 'timestamp', 'content'],
        rvslots: 'main',
        rvsection: section,
      },
      signal,
    );
    const page = onlyPage(answer, title);
    const revision = page.first('revisions');
    const text = wikitext(revision, title, section);
    const about = {
      title: page.string('title'),
      revisionId: revision.number('revid'),
      timestamp: revision.string('timestamp'),
      contentModel: revision.string('slots', 'main', 'contentmodel'),
    };
    return textPage(text, { offset, maxChars, maxBytes }, (part) => ({ ...about, ...part }));
  },
});
