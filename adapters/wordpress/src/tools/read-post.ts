import { defineTool } from '@tabrelay/plugin-sdk';
import { htmlToText } from '@tabrelay/plugin-sdk/html';
import { textInput, textOutput, textPage } from '@tabrelay/plugin-sdk/paging';
import { get } from '../api.ts';
import { collection, detailProperties, details } from '../posts.ts';
import { id, postType, record } from '../shape.ts';

export const readPost = defineTool({
  name: 'read_post',
  displayName: 'Read post',
  description:
    'Reads a post or page. As text (default) it is what a visitor reads; as source it is the markup to edit, for a signed-in person who may edit it. Call it before update_post.',
  annotations: { readOnlyHint: true },
  signIn: false,
  input: {
    type: 'object',
    properties: {
      id,
      type: postType,
      as: { enum: ['text', 'source'], default: 'text', description: 'What to read it as.' },
      ...textInput,
    },
    required: ['id'],
    additionalProperties: false,
  },
  output: record(
    {
      ...detailProperties,
      content: { type: 'string' },
      totalChars: textOutput.totalChars,
      nextOffset: textOutput.nextOffset,
    },
    'nextOffset',
  ),
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
