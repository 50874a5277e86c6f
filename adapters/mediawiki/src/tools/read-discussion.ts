import { defineTool } from '@tabrelay/plugin-sdk';
import { textInput, textOutput, textPage } from '@tabrelay/plugin-sdk/paging';
import { get } from '../api.ts';
import { article } from '../markup.ts';
import { sectionList, talkPage, titleInput } from '../pages.ts';

export const readDiscussion = defineTool({
  name: 'read_discussion',
  displayName: 'Read talk page',
  description:
    'What people discuss about a page, on its talk page: topics and their text. Answer with add_topic.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      title: titleInput,
      section: { type: 'integer', minimum: 0, description: 'Only this topic.' },
      ...textInput,
    },
    required: ['title'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      talkPage: { type: 'string' },
      exists: { type: 'boolean', description: 'False: nobody has discussed the page yet.' },
      topics: {
        type: 'array',
        maxItems: 100,
        items: {
          type: 'object',
          properties: { section: { type: 'string' }, heading: { type: 'string' } },
          required: ['section', 'heading'],
        },
      },
      totalTopics: { type: 'integer', description: 'How many there are, when not all are listed.' },
      ...textOutput,
    },
    required: ['talkPage', 'exists', 'topics', 'totalTopics', 'text', 'totalChars'],
  },
  async handle({ title, section, offset, maxChars }, { signal, maxBytes }) {
    const { exists, title: talkPageTitle } = await talkPage(title, signal);
    const about = { talkPage: talkPageTitle, exists };
    if (!exists) return { ...about, topics: [], totalTopics: 0, text: '', totalChars: 0 };
    const params = { action: 'parse', page: talkPageTitle, section, prop: ['text', 'sections'] };
    const flags = { disablelimitreport: true, disableeditsection: true, disabletoc: true };
    const parsed = (await get({ ...params, ...flags }, signal)).at('parse');
    const all = sectionList(parsed, maxBytes);
    const topics = all.map(({ section: index, heading }) => ({ section: index, heading }));
    const facts = { ...about, topics, totalTopics: parsed.list('sections').length };
    const text = article(parsed.string('text'));
    return textPage(text, { offset, maxChars, maxBytes }, (part) => ({ ...facts, ...part }));
  },
});
