import { defineTool } from '@tabrelay/plugin-sdk';
import { list } from '../api.ts';
import { listOf, paging, record } from '../shape.ts';

export const listUsers = defineTool({
  name: 'list_users',
  displayName: 'List users',
  description:
    'Lists or searches those who have published something, by name: the ids behind authorId. Accounts without a published post are not listed.',
  annotations: { readOnlyHint: true },
  signIn: false,
  input: {
    type: 'object',
    properties: { search: { type: 'string', minLength: 1, description: 'Words in the name.' }, ...paging },
    additionalProperties: false,
  },
  output: listOf(
    record({
      id: { type: 'integer' },
      name: { type: 'string' },
      description: { type: 'string' },
      link: { type: 'string' },
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
