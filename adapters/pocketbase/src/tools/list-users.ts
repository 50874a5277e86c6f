import { defineTool } from '@tabrelay/plugin-sdk';
import { containing, get, records } from '../api.ts';
import { flag, objects, text } from '../json.ts';
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
    const users = objects(answer.items).map((one) => ({
      id: text(one.id),
      email: text(one.email),
      name: text(one.name),
      verified: flag(one.verified),
      created: text(one.created),
    }));
    return { users, ...pageOf(answer) };
  },
});
