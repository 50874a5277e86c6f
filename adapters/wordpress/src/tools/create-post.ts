import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { post } from '../api.ts';
import { collection, fields, summary, summaryOutput, titleInput, writable } from '../posts.ts';
import { postType } from '../shape.ts';

export const createPost = defineTool({
  name: 'create_post',
  displayName: 'Create post',
  description:
    'Creates a post or page: a draft that only editors see, unless status says publish or future.',
  annotations: { readOnlyHint: false, destructiveHint: false },
  input: s.parameters({
    type: postType,
    title: titleInput,
    ...writable,
    status: s.choice(
      ['draft', 'pending', 'private', 'publish', 'future'],
      'pending waits for an editor.',
      {
        default: 'draft',
      },
    ),
  }),
  output: summaryOutput,
  handle: async ({ type, ...written }, { signal }) =>
    summary(await post(collection(type), fields(written), signal)),
});
