import { defineTool } from '@tabrelay/plugin-sdk';
import { asText, objectAt } from '@tabrelay/plugin-sdk/json';
import { get } from '../api.ts';
import { plain } from '../markup.ts';
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
      offset: {
        type: 'integer',
        minimum: 0,
        default: 0,
        description: 'From nextOffset of the answer before.',
      },
      maxChars: {
        type: 'integer',
        minimum: 200,
        maximum: 100000,
        default: 8000,
        description: 'How much to return.',
      },
    },
    required: ['id'],
    additionalProperties: false,
  },
  output: record(
    {
      ...detailProperties,
      content: { type: 'string' },
      totalChars: { type: 'integer' },
      nextOffset: { type: 'integer', description: 'Present when there is more content.' },
    },
    'nextOffset',
  ),
  async handle({ id, type, as, offset, maxChars }, { signal }) {
    const context = as === 'source' ? 'edit' : 'view';
    const found = await get(`${collection(type)}/${id}`, { context }, signal);
    const { raw, rendered } = objectAt(found.content);
    const whole = as === 'source' ? asText(raw) : plain(asText(rendered));
    const content = whole.slice(offset, offset + maxChars);
    const next = offset + content.length;
    return {
      ...details(found),
      content,
      totalChars: whole.length,
      ...(next < whole.length ? { nextOffset: next } : {}),
    };
  },
});
