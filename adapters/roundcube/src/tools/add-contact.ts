import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { act } from '../api.ts';

export const addContact = defineTool({
  name: 'add_contact',
  displayName: 'Add contact',
  description:
    'Adds a person to the personal address book. VALIDATION_ERROR when the address is in it ' +
    'already.',
  annotations: { readOnlyHint: false, destructiveHint: false },
  input: s.parameters({
    name: s.string('First and last name.', { maxLength: 200, pattern: '^[^<>",;]+$' }),
    email: s.string('The address.', { minLength: 3, maxLength: 254 }),
  }),
  output: s.object({
    name: s.string(),
    email: s.string(),
    said: s.string('What the webmail told the person.'),
  }),
  async handle({ name, email }, { signal }) {
    const body = { _address: `${name} <${email}>`, _source: 0 };
    const { said } = await act({ _task: 'mail', _action: 'addcontact' }, body, signal);
    return { name, email, said };
  },
});
