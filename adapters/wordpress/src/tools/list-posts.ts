import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { list } from '../api.ts';
import { collection, summary, summaryOutput } from '../posts.ts';
import { id, listOf, paging, postType } from '../shape.ts';

export const listPosts = defineTool({
  name: 'list_posts',
  displayName: 'List posts',
  description:
    'Lists or searches posts or pages, newest first, without their text. Drafts and the trash ' +
    'need a signed-in person. Read one with read_post.',
  annotations: { readOnlyHint: true },
  signIn: false,
  input: s.parameters({
    type: postType,
    search: s.optional(s.string('Words in title or text.', { minLength: 1 })),
    status: s.array(
      s.choice(['publish', 'future', 'draft', 'pending', 'private', 'trash', 'any']),
      'any is everything but the trash.',
      { minItems: 1, default: ['publish'] },
    ),
    authorId: s.optional({
      ...id,
      description: 'Only what this person wrote; id from list_users.',
    }),
    category: s.optional({ ...id, description: 'Id from list_terms. Posts only.' }),
    tag: s.optional({ ...id, description: 'Id from list_terms. Posts only.' }),
    orderBy: s.choice(['date', 'modified', 'title'], 'Dates: newest first.', { default: 'date' }),
    ...paging,
  }),
  output: listOf(summaryOutput),
  handle(
    { type, search, status, authorId, category, tag, orderBy, limit, offset },
    { signal, maxBytes },
  ) {
    const open = status.every((one) => one === 'publish');
    const query = {
      search,
      status: status.join(','),
      author: authorId,
      categories: category,
      tags: tag,
      orderby: orderBy,
      order: orderBy === 'title' ? 'asc' : 'desc',
      // What the person typed, where they may edit it; a visitor gets it as it is shown.
      context: open ? 'view' : 'edit',
      _fields: 'id,title,status,date_gmt,modified_gmt,author,link',
    };
    return list(collection(type), { limit, offset, maxBytes }, query, summary, signal);
  },
});
