import { defineTool } from '@tabrelay/plugin-sdk';
import { post } from '../api.ts';
import { collection, fields, summary, summaryOutput, writable } from '../posts.ts';
import { postType } from '../shape.ts';

export const createPost = defineTool({
  name: 'create_post',
  displayName: 'Create post',
  description:
    'Creates a post or page in the name of the signed-in person. It is a draft that only the editors see, unless status says publish or future.',
  annotations: { readOnlyHint: false, destructiveHint: false },
  input: {
    type: 'object',
    properties: {
      type: postType,
      ...writable,
      status: {
        enum: ['draft', 'pending', 'private', 'publish', 'future'],
        default: 'draft',
        description: 'pending waits for an editor.',
      },
    },
    required: ['title'],
    additionalProperties: false,
  },
  output: summaryOutput,
  handle: async ({ type, ...written }, { signal }) =>
    summary(await post(collection(type), fields(written), signal)),
});
