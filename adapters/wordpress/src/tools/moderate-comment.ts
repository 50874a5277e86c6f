import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { post } from '../api.ts';
import { comment, commentOutput } from '../comments.ts';
import { id } from '../shape.ts';

export const moderateComment = defineTool({
  name: 'moderate_comment',
  displayName: 'Moderate comment',
  description:
    'Approves a comment, or moves it to the queue (hold), spam or trash. Calling it again ' +
    'with another status undoes it.',
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  input: s.parameters({
    id,
    status: s.choice(['approved', 'hold', 'spam', 'trash'], 'Where to move it.'),
  }),
  output: commentOutput,
  handle: async ({ id, status }, { signal }) =>
    comment(await post(`/wp/v2/comments/${id}`, { status }, signal)),
});
