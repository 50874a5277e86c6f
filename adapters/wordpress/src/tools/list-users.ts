import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { list } from '../api.ts';
import { listOf, paging } from '../shape.ts';

export const listUsers = defineTool({
  name: 'list_users',
  displayName: 'List users',
  description:
    'Lists or searches those who have published something, by name: the ids behind authorId.',
  annotations: { readOnlyHint: true },
  signIn: false,
  input: s.parameters({
    search: s.optional(s.string('Words in the name.', { minLength: 1 })),
    ...paging,
  }),
  output: listOf(
    s.object({
      id: s.integer(),
      name: s.string(),
      description: s.string(),
      link: s.string(),
    }),
  ),
  handle: ({ search, limit, offset }, { signal, maxBytes }) =>
    list(
      '/wp/v2/users',
      { limit, offset, maxBytes },
      { search, has_published_posts: 'post' },
      (one) => ({
        id: one.number('id'),
        name: one.string('name'),
        description: one.string('description'),
        link: one.string('link'),
      }),
      signal,
    ),
});
