import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';

export const currentUser = defineTool({
  name: 'current_user',
  displayName: 'Current user',
  description:
    'Who is signed in to the wiki. Signed out, signedIn is false: edits will be refused.',
  annotations: { readOnlyHint: true },
  input: s.parameters({}),
  output: s.object({
    signedIn: s.boolean(),
    name: s.string('Empty when nobody is signed in.'),
    editCount: s.integer(),
    groups: s.array(s.string(), { maxItems: 50 }),
    blocked: s.boolean(),
    wiki: s.string('The name of the wiki.'),
  }),
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
