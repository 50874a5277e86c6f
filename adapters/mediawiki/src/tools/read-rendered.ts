import { defineTool } from '@tabrelay/plugin-sdk';
import { asNumber, asText, objectAt, objectsIn } from '@tabrelay/plugin-sdk/json';
import { get } from '../api.ts';
import { article, plain } from '../markup.ts';
import { piece, pieceOutput, readInput } from '../pages.ts';

export const readRendered = defineTool({
  name: 'read_rendered',
  displayName: 'Read article',
  description:
    'A page as a reader sees it, as plain text: templates expanded, markup removed. Lists its sections, each of which can be read alone.',
  annotations: { readOnlyHint: true },
  input: readInput(),
  output: {
    type: 'object',
    properties: {
      title: { type: 'string' },
      revisionId: { type: 'integer' },
      sections: {
        type: 'array',
        maxItems: 100,
        items: {
          type: 'object',
          properties: {
            section: { type: 'string' },
            level: { type: 'integer' },
            heading: { type: 'string' },
          },
          required: ['section', 'level', 'heading'],
        },
      },
      ...pieceOutput,
    },
    required: ['title', 'revisionId', 'sections', 'text', 'totalChars'],
  },
  async handle({ title, section, offset, maxChars }, { signal }) {
    const answer = await get(
      {
        action: 'parse',
        page: title,
        redirects: true,
        section,
        prop: ['text', 'sections', 'revid'],
        disablelimitreport: true,
        disableeditsection: true,
        disabletoc: true,
      },
      signal,
    );
    const parsed = objectAt(answer, 'parse');
    return {
      title: asText(parsed.title),
      revisionId: asNumber(parsed.revid),
      sections: objectsIn(parsed.sections)
        .slice(0, 100)
        .map((one) => ({
          section: asText(one.index),
          level: Number(asText(one.level)),
          heading: plain(asText(one.line)),
        })),
      ...piece(article(asText(parsed.text)), offset, maxChars),
    };
  },
});
