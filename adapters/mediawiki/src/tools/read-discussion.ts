import { defineTool } from '@tabrelay/plugin-sdk';
import { asText, objectAt, objectsIn } from '@tabrelay/plugin-sdk/json';
import { get } from '../api.ts';
import { article, plain } from '../markup.ts';
import { piece, pieceInput, pieceOutput, talkPage, titleInput } from '../pages.ts';

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
      ...pieceInput,
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
      ...pieceOutput,
    },
    required: ['talkPage', 'exists', 'topics', 'text', 'totalChars'],
  },
  async handle({ title, section, offset, maxChars }, { signal }) {
    const talk = await talkPage(title, signal);
    if (!talk.exists) return { talkPage: talk.title, exists: false, topics: [], text: '', totalChars: 0 };
    const params = { action: 'parse', page: talk.title, section, prop: ['text', 'sections'] };
    const flags = { disablelimitreport: true, disableeditsection: true, disabletoc: true };
    const parsed = objectAt(await get({ ...params, ...flags }, signal), 'parse');
    return {
      talkPage: talk.title,
      exists: true,
      topics: objectsIn(parsed.sections)
        .slice(0, 100)
        .map((one) => ({ section: asText(one.index), heading: plain(asText(one.line)) })),
      ...piece(article(asText(parsed.text)), offset, maxChars),
    };
  },
});
