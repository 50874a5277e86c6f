import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { whoIsThere } from '../person.ts';

export const currentUser = defineTool({
  name: 'current_user',
  displayName: 'Current user',
  description:
    'Who is signed in to the wiki in this browser, their groups, and what they may do to a page. Signed ' +
    'out, signedIn is false: changes will then be refused.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    id: s.optional(
      s.string('Say what they may do to this page. Left out: the start page.', { minLength: 1 }),
    ),
  }),
  output: s.object({
    signedIn: s.boolean(),
    login: s.string('Empty when nobody is signed in.'),
    name: s.string(),
    groups: s.array(s.string(), { maxItems: 100 }),
    permission: s.optional(
      s.choice(
        ['none', 'read', 'edit', 'create', 'upload', 'delete', 'admin'],
        'What the person may do to the page: this and what stands before it. delete is about files.',
      ),
    ),
    wiki: s.string('The name of the wiki.'),
  }),
  handle: ({ id }, { signal }) => whoIsThere(id, signal),
});
