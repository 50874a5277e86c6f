import { defineTool } from '@tabrelay/plugin-sdk';
import { asText, isTrue, objectsIn } from '@tabrelay/plugin-sdk/json';
import { containing, get, records } from '../api.ts';
import { collectionInput, pageInput, pageOf, pageOutput } from '../records.ts';

export const listUsers = defineTool({
  name: 'list_users',
  displayName: 'List users',
  description:
    'Users of the application (records of an auth collection): email, whether it is verified, when they came. Newest first.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      collection: { ...collectionInput, default: 'users' },
      search: { type: 'string', default: '', description: 'Only those whose email or id contains this.' },
      verified: { type: 'boolean', description: 'Only those with, or without, a verified email.' },
      ...pageInput,
    },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      users: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            id: { type: 'string' },
            email: { type: 'string' },
            name: { type: 'string', description: 'Empty where the collection has no such field.' },
            verified: { type: 'boolean' },
            created: { type: 'string' },
          },
          required: ['id', 'email', 'name', 'verified', 'created'],
        },
      },
      ...pageOutput,
    },
    required: ['users', 'total'],
  },
  arrayPath: '.users',
  async handle({ collection, search, verified, limit, page }, { signal }) {
    const filter = [
      search && `(email ~ ${containing(search)} || id ~ ${containing(search)})`,
      verified === undefined ? '' : `verified = ${verified}`,
    ];
    const params = { page, perPage: limit, filter: filter.filter(Boolean).join(' && '), sort: '-@rowid' };
    const answer = await get(records(collection), params, signal);
    const users = objectsIn(answer.items).map((one) => ({
      id: asText(one.id),
      email: asText(one.email),
      name: asText(one.name),
      verified: isTrue(one.verified),
      created: asText(one.created),
    }));
    return { users, ...pageOf(answer) };
  },
});
