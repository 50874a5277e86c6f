import { defineTool } from '@tabrelay/plugin-sdk';
import { act } from '../api.ts';
import { record } from '../shape.ts';

export const addContact = defineTool({
  name: 'add_contact',
  displayName: 'Add contact',
  description:
    'Adds a person to the personal address book. VALIDATION_ERROR when the address is in it already.',
  annotations: { readOnlyHint: false, destructiveHint: false },
  input: {
    type: 'object',
    properties: {
      name: { type: 'string', maxLength: 200, pattern: '^[^<>",;]+$', description: 'First and last name.' },
      email: { type: 'string', minLength: 3, maxLength: 254, description: 'The address.' },
    },
    required: ['name', 'email'],
    additionalProperties: false,
  },
  output: record({
    name: { type: 'string' },
    email: { type: 'string' },
    said: { type: 'string', description: 'What the webmail told the person.' },
  }),
  async handle({ name, email }, { signal }) {
    const body = { _address: `${name} <${email}>`, _source: 0 };
    const { said } = await act({ _task: 'mail', _action: 'addcontact' }, body, signal);
    return { name, email, said };
  },
});
