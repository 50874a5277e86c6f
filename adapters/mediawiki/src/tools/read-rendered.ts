import { defineTool } from '@tabrelay/plugin-sdk';
import { textOutput, textPage } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';
import { article } from '../markup.ts';
import { readInput, sectionList } from '../pages.ts';

export const readRendered = defineTool({
  name: 'read_rendered',
  displayName: 'Read article',
  description:
    'A page as a reader sees it, as plain text: templates expanded, markup removed. Lists its ' +
    'sections.',
  annotations: { readOnlyHint: true },
  input: readInput(),
  output: s.object({
    title: s.string(),
    revisionId: s.integer(),
    sections: s.array(
      s.object({
        section: s.string(),
        level: s.integer(),
        heading: s.string(),
      }),
      { maxItems: 100 },
    ),
    totalSections: s.integer('How many there are, when not all are listed.'),
    ...textOutput,
  }),
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
