import { defineTool } from '@tabrelay/plugin-sdk';
import { textInput, textOutput, textPage } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';
import { article } from '../markup.ts';
import { sectionList, talkPage, titleInput } from '../pages.ts';

export const readDiscussion = defineTool({
  name: 'read_discussion',
  displayName: 'Read talk page',
  description:
    'What people discuss about a page, on its talk page: topics and their text. Answer ' +
    'with add_topic.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    title: titleInput,
    section: s.optional(s.integer('Only this topic.', { minimum: 0 })),
    ...textInput,
  }),
  output: s.object({
    talkPage: s.string(),
    exists: s.boolean('False: nobody has discussed the page yet.'),
    topics: s.array(
      s.object({
        section: s.string(),
        heading: s.string(),
      }),
      { maxItems: 100 },
    ),
    totalTopics: s.integer('How many there are, when not all are listed.'),
    ...textOutput,
  }),
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
