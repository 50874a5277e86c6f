import { defineTool } from '@tabrelay/plugin-sdk';
import { asNumber, asText } from '@tabrelay/plugin-sdk/json';
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
  handle: ({ search, limit, offset }, { signal }) =>
    list(
      '/wp/v2/users',
      { search, limit, offset, has_published_posts: 'post' },
      (one) => ({
        id: asNumber(one.id),
        name: asText(one.name),
        description: asText(one.description),
        link: asText(one.link),
      }),
      signal,
    ),
});
