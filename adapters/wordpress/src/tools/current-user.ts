import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';

const asked = [
  'publish_posts',
  'edit_others_posts',
  'publish_pages',
  'moderate_comments',
  'upload_files',
];

export const currentUser = defineTool({
  name: 'current_user',
  displayName: 'Current user',
  description:
    'Who is signed in to this WordPress site, with which role, and what that role may do.',
  annotations: { readOnlyHint: true },
  input: s.parameters({}),
  output: s.object({
    id: s.integer(),
    name: s.string(),
    username: s.string(),
    email: s.string(),
    roles: s.array(s.string(), { maxItems: 50 }),
    may: s.array(s.string(), `Those of ${asked.join(', ')} it has.`, { maxItems: 5 }),
    site: s.string(),
  }),
  async handle(_, { signal }) {
    const me = await get('/wp/v2/users/me', { context: 'edit' }, signal);
    const has = me.object('capabilities');
    return {
      id: me.number('id'),
      name: me.string('name'),
      username: me.string('username'),
      email: me.string('email'),
      roles: me.strings('roles'),
      may: asked.filter((one) => has[one] === true),
      site: (await get('/', { _fields: 'name' }, signal)).string('name'),
    };
  },
});
