import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { list } from '../api.ts';
import { comment, commentOutput } from '../comments.ts';
import { id, listOf, paging } from '../shape.ts';

export const listComments = defineTool({
  name: 'list_comments',
  displayName: 'List comments',
  description:
    'Lists or searches comments, newest first, with their text. hold waits for moderation; all ' +
    'but approved need somebody who may moderate.',
  annotations: { readOnlyHint: true },
  signIn: false,
  input: s.parameters({
    status: s.choice(['approved', 'hold', 'spam', 'trash', 'all'], 'Where they are.', {
      default: 'approved',
    }),
    postId: s.optional({ ...id, description: 'Only those of this post.' }),
    search: s.optional(s.string('Words in text or author.', { minLength: 1 })),
    ...paging,
  }),
  output: listOf(commentOutput),
  handle({ status, postId, search, limit, offset }, { signal, maxBytes }) {
    // The parameter's words are not those of the answer.
    const query =
      status === 'approved' ? {} : { status: status === 'all' ? 'any' : status, context: 'edit' };
    const wanted = { ...query, post: postId, search };
    return list('/wp/v2/comments', { limit, offset, maxBytes }, wanted, comment, signal);
  },
});
