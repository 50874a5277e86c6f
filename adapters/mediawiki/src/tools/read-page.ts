import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import { asNumber, asText, objectAt, objectsIn } from '@tabrelay/plugin-sdk/json';
import { get } from '../api.ts';
import { onlyPage, piece, pieceOutput, readInput } from '../pages.ts';

export const readPage = defineTool({
  name: 'read_page',
  displayName: 'Read wikitext',
  description:
    'The source (wikitext) of a page, with the revisionId that edit_page needs. To only read an article, read_rendered is shorter.',
  annotations: { readOnlyHint: true },
  input: readInput(),
  output: {
    type: 'object',
    properties: {
      title: { type: 'string' },
      revisionId: { type: 'integer', description: 'Hand it to edit_page as baseRevisionId.' },
      timestamp: { type: 'string' },
      contentModel: { type: 'string' },
      ...pieceOutput,
    },
    required: ['title', 'revisionId', 'timestamp', 'contentModel', 'text', 'totalChars'],
  },
  async handle({ title, section, offset, maxChars }, { signal }) {
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
    const revision = objectsIn(page.revisions)[0];
    if (revision === undefined) throw ToolError.notFound(`The text of "${title}" is hidden.`);
    const main = objectAt(revision, 'slots', 'main');
    if (main.nosuchsection) throw ToolError.notFound(`"${title}" has no section ${section}.`);
    return {
      title: asText(page.title),
      revisionId: asNumber(revision.revid),
      timestamp: asText(revision.timestamp),
      contentModel: asText(main.contentmodel),
      ...piece(asText(main.content), offset, maxChars),
    };
  },
});
