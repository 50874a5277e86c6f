import { defineTool } from '@tabrelay/plugin-sdk';
import { parseHTML } from '@tabrelay/plugin-sdk/html';
import { invalidResponse } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { page } from '../api.ts';

export const currentUser = defineTool({
  name: 'current_user',
  displayName: 'Current user',
  description: 'Who is signed in to the webmail: the names and addresses messages are sent from.',
  annotations: { readOnlyHint: true },
  input: s.parameters({}),
  output: s.object({
    identities: s.array(s.string(), 'The first is the usual one.', { maxItems: 50 }),
  }),
  async handle(_, { signal }) {
    const form = parseHTML(await page({ _task: 'mail', _action: 'compose' }, signal));
    const options = [...form.querySelectorAll('[name="_from"] option')].slice(0, 50);
    if (options.length === 0) throw invalidResponse('the form has nobody to send from');
    return { identities: options.map((one) => one.textContent?.trim() ?? '') };
  },
});
