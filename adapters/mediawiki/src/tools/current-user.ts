import { defineTool } from '@tabrelay/plugin-sdk';
import { get } from '../api.ts';

export const currentUser = defineTool({
  name: 'current_user',
  displayName: 'Current user',
  description:
    'Who is signed in to the wiki in this browser. Signed out, signedIn is false: edits will then be refused.',
  annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {}, additionalProperties: false },
  output: {
    type: 'object',
    properties: {
      signedIn: { type: 'boolean' },
      name: { type: 'string', description: 'Empty when nobody is signed in.' },
      editCount: { type: 'integer' },
      groups: { type: 'array', maxItems: 50, items: { type: 'string' } },
      blocked: { type: 'boolean' },
      wiki: { type: 'string', description: 'The name of the wiki.' },
    },
    required: ['signedIn', 'name', 'editCount', 'groups', 'blocked', 'wiki'],
  },
  async handle(_, { signal }) {
    const answer = await get(
      {
        action: 'query',
        meta: ['userinfo', 'siteinfo'],
        uiprop: ['groups', 'editcount', 'blockinfo'],
        siprop: 'general',
      },
      signal,
    );
    const user = answer.at('query', 'userinfo');
    const signedIn = user.number('id') !== 0 && !user.flag('temp');
    return {
      signedIn,
      name: signedIn ? user.string('name') : '',
      editCount: user.number('editcount'),
      groups: user.strings('groups').slice(0, 50),
      blocked: user.maybe('blockid') !== undefined,
      wiki: answer.string('query', 'general', 'sitename'),
    };
  },
});
