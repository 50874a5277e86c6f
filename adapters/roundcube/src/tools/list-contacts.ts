import { defineTool } from '@tabrelay/plugin-sdk';
import { type JsonReader, jsonReader } from '@tabrelay/plugin-sdk/json';
import { listPart } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { ask, type Reply } from '../api.ts';
import { nextOffset, paging } from '../shape.ts';

export const listContacts = defineTool({
  name: 'list_contacts',
  displayName: 'List contacts',
  description:
    'Lists the personal address book, or finds people by name or address in all address books.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    query: s.optional(s.string('Part of a name or an address.', { minLength: 1 })),
    ...paging,
    limit: { ...paging.limit, maximum: 200, default: 50 },
  }),
  output: s.object({
    contacts: s.array(
      s.object({
        name: s.string(),
        email: s.string(),
      }),
    ),
    nextOffset: s.optional(nextOffset),
  }),
  async handle({ query, limit, offset }, { signal, maxBytes }) {
    const book = { _task: 'addressbook' };
    const search = { _q: query, _headers: 'name,firstname,surname,email' };
    let reply = await ask(
      query === undefined
        ? { ...book, _action: 'list', _source: 0, _page: 1 }
        : { ...book, _action: 'search', ...search },
      signal,
    );
    // The webmail pages by a number of its own: as many as its first page has.
    const pages = reply.env.number('pagecount');
    const size = rows(reply).length;
    if (pages > 0 && size === 0)
      reply.env.at('pagecount').fail('counts pages, and none has a contact');
    const page = size === 0 ? 1 : Math.floor(offset / size) + 1;
    if (page > 1 && page <= pages) {
      const found =
        query === undefined ? { _source: 0 } : { _search: reply.env.string('search_request') };
      reply = await ask({ ...book, _action: 'list', ...found, _page: page }, signal);
    }
    const shown = page <= Math.max(pages, 1) ? rows(reply) : [];
    const start = offset - (page - 1) * size;
    const contacts = shown.slice(start, start + limit).map(contact);
    const total = page < pages ? page * size + 1 : (page - 1) * size + shown.length;
    return listPart(contacts, { offset, total, maxBytes }, (some, { nextOffset: next }) => ({
      contacts: some,
      ...(next === undefined ? {} : { nextOffset: next }),
    }));
  },
});

const rows = ({ commands }: Reply) => commands.filter(({ name }) => name === 'add_contact_row');

/** A row is `add_contact_row(id, columns, classes, {name, email})`; a person may have no address, or several. */
function contact({ args }: { args: readonly unknown[] }) {
  const about =
    jsonReader(args).list()[3] ?? jsonReader(args).fail('is a contact without its data');
  return { name: about.maybe('name')?.string() ?? '', email: address(about.maybe('email')) };
}

const address = (email: JsonReader | undefined): string =>
  Array.isArray(email?.value) ? email.strings().join(', ') : (email?.string() ?? '');
