import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from './site.ts';

export const whoAmI = defineTool({
  name: 'who_am_i',
  displayName: 'Who is signed in',
  description:
    'The name of the person signed in to the demo site in this browser. AUTH_ERROR when nobody is.',
  annotations: { readOnlyHint: true },
  input: s.parameters({}),
  output: s.object({
    name: s.string(),
  }),
  async handle(_, { signal }) {
    const me = await get('/api/me', signal);
    return { name: me.string('name') };
  },
});
