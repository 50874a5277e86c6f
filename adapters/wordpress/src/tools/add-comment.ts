import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { post } from '../api.ts';
import { comment, commentOutput } from '../comments.ts';
import { id } from '../shape.ts';

export const addComment = defineTool({
  name: 'add_comment',
  displayName: 'Add comment',
  description:
    'Comments on a post, or replies to a comment (replyTo). Public at once where the account may ' +
    'moderate.',
  annotations: { readOnlyHint: false, destructiveHint: false },
  input: s.parameters({
    postId: { ...id, description: 'The post, from list_posts.' },
    replyTo: s.optional({ ...id, description: 'Id of the comment to answer, from list_comments.' }),
    text: s.string('Plain text.', { minLength: 1, maxLength: 20000 }),
  }),
  output: commentOutput,
  handle: async ({ postId, replyTo, text }, { signal }) =>
    comment(
      await post('/wp/v2/comments', { post: postId, parent: replyTo, content: text }, signal),
    ),
});
