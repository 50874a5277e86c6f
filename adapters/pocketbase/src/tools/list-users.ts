import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { type Paging, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { containing, list, records } from '../api.ts';
import { collectionInput, pageInput } from '../records.ts';

export const listUsers = defineTool({
  name: 'list_users',
  displayName: 'List users',
  description:
    'Users of the application (records of an auth collection): email, whether it is ' +
    'verified, when they came. Newest first.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    collection: { ...collectionInput, default: 'users' },
    search: s.string('Only those whose email or id contains this.', { default: '' }),
    verified: s.optional(s.boolean('Only those with, or without, a verified email.')),
    ...pageInput,
  }),
  output: s.object({
    users: s.array(
      s.object({
        id: s.string(),
        email: s.string(),
        name: s.string('Empty where the collection has no such field.'),
        verified: s.boolean(),
        created: s.string(),
      }),
    ),
    ...pagingOutput,
  }),
  arrayPath: '.users',
  async handle({ collection, search, verified, limit, offset }, { signal, maxBytes }) {
    const filter = [
      search && `(email ~ ${containing(search)} || id ~ ${containing(search)})`,
      verified === undefined ? '' : `verified = ${verified}`,
    ];
    const params = { filter: filter.filter(Boolean).join(' && '), sort: '-@rowid' };
    const part = { limit, offset, maxBytes };
    const answer = (users: ReturnType<typeof user>[], paging: Paging) => ({ users, ...paging });
    return list(records(collection), part, params, user, answer, signal);
  },
});

/** Email and verification are fields of every collection of users; a person may remove the others. */
function user(from: JsonReader) {
  const [id] = [from.string('id'), from.string('collectionId')];
  if (from.maybe('email') === undefined)
    throw ToolError.validation('The records of this collection are not users: they have no email.');
  return {
    id,
    email: from.string('email'),
    name: from.maybe('name')?.string() ?? '',
    verified: from.boolean('verified'),
    created: from.maybe('created')?.string() ?? '',
  };
}
