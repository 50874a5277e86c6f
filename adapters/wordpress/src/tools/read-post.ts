import { defineTool } from '@tabrelay/plugin-sdk';
import { htmlToText } from '@tabrelay/plugin-sdk/html';
import { textInput, textOutput, textPage } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';
import { collection, detailProperties, details } from '../posts.ts';
import { id, postType } from '../shape.ts';

export const readPost = defineTool({
  name: 'read_post',
  displayName: 'Read post',
  description:
    'Reads a post or page: as text (default) what a visitor reads, as source the markup to edit. ' +
    'Call it before update_post.',
  annotations: { readOnlyHint: true },
  signIn: false,
  input: s.parameters({
    id,
    type: postType,
    as: s.choice(['text', 'source'], 'What to read it as.', { default: 'text' }),
    ...textInput,
  }),
  output: s.object({
    ...detailProperties,
    content: s.string(),
    totalChars: textOutput.totalChars,
    nextOffset: s.optional(textOutput.nextOffset),
  }),
  async handle({ id, type, as, offset, maxChars }, { signal, maxBytes }) {
    const context = as === 'source' ? 'edit' : 'view';
    const found = await get(`${collection(type)}/${id}`, { context }, signal);
    const source = found.at('content');
    const whole = as === 'source' ? source.string('raw') : htmlToText(source.string('rendered'));
    const about = details(found);
    return textPage(whole, { offset, maxChars, maxBytes }, ({ text: content, ...part }) => ({
      ...about,
      content,
      ...part,
    }));
  },
});
