import { defineTool } from '@tabrelay/plugin-sdk';
import { get } from '../api.ts';
import { record } from '../shape.ts';

const asked = ['publish_posts', 'edit_others_posts', 'publish_pages', 'moderate_comments', 'upload_files'];

export const currentUser = defineTool({
  name: 'current_user',
  displayName: 'Current user',
  description:
    'Who is signed in to this WordPress site in this browser, with which role, and what that role may do.',
  annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {}, additionalProperties: false },
  output: record({
    id: { type: 'integer' },
    name: { type: 'string' },
    username: { type: 'string' },
    email: { type: 'string' },
    roles: { type: 'array', items: { type: 'string' }, maxItems: 50 },
    may: {
      type: 'array',
      items: { type: 'string' },
      maxItems: 5,
      description: `Those of ${asked.join(', ')} it has.`,
    },
    site: { type: 'string' },
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
