import { defineTool } from '@tabrelay/plugin-sdk';
import { asNumber, asText, objectAt } from '@tabrelay/plugin-sdk/json';
import { ask } from '../api.ts';
import { record } from '../shape.ts';

export const listContacts = defineTool({
  name: 'list_contacts',
  displayName: 'List contacts',
  description:
    'Lists the personal address book, or finds people by name or address in all address books: the addresses to send to.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1, description: 'Part of a name or an address.' },
      page: {
        type: 'integer',
        minimum: 1,
        default: 1,
        description: 'Which page; a page is what the webmail shows at once.',
      },
      limit: { type: 'integer', minimum: 1, maximum: 200, default: 50, description: 'How many of the page.' },
    },
    additionalProperties: false,
  },
  output: record({
    contacts: { type: 'array', items: record({ name: { type: 'string' }, email: { type: 'string' } }) },
    pages: { type: 'integer', description: 'How many pages there are.' },
  }),
  async handle({ query, page, limit }, { signal }) {
    const book = { _task: 'addressbook', _page: page };
    const { env, commands } =
      query === undefined
        ? await ask({ ...book, _action: 'list', _source: 0 }, signal)
        : await ask(
            { ...book, _action: 'search', _q: query, _headers: 'name,firstname,surname,email' },
            signal,
          );
    const rows = commands.filter(({ name }) => name === 'add_contact_row').slice(0, limit);
    const contacts = rows.map(({ args }) => {
      const { name, email } = objectAt(args[3]);
      return { name: asText(name), email: asText(email) };
    });
    return { contacts, pages: asNumber(env.pagecount) };
  },
});
