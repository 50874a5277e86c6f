import { defineTool } from '@tabrelay/plugin-sdk';
import { textOutput, textPage } from '@tabrelay/plugin-sdk/paging';
import { get } from '../api.ts';
import { article } from '../markup.ts';
import { readInput, sectionList } from '../pages.ts';

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
      totalSections: { type: 'integer', description: 'How many there are, when not all are listed.' },
      ...textOutput,
    },
    required: ['title', 'revisionId', 'sections', 'totalSections', 'text', 'totalChars'],
  },
  async handle({ title, section, offset, maxChars }, { signal, maxBytes }) {
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
    const parsed = answer.at('parse');
    const about = {
      title: parsed.string('title'),
      revisionId: parsed.number('revid'),
      sections: sectionList(parsed, maxBytes),
      totalSections: parsed.list('sections').length,
    };
    const text = article(parsed.string('text'));
    return textPage(text, { offset, maxChars, maxBytes }, (part) => ({ ...about, ...part }));
  },
});
