import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { type Paging, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { containing, list } from '../api.ts';
import { pageInput } from '../records.ts';

export const listCollections = defineTool({
  name: 'list_collections',
  displayName: 'List collections',
  description:
    'The collections (tables) of the database with their type and fields. Begin here; ' +
    'get_collection has the details of one.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    search: s.string('Only those whose name contains this.', { default: '' }),
    system: s.boolean("The server's own collections too.", { default: false }),
    ...pageInput,
  }),
  output: s.object({
    collections: s.array(
      s.object({
        name: s.string(),
        type: s.string('base, auth (its records are users) or view (read-only).'),
        fields: s.array(s.string()),
      }),
    ),
    ...pagingOutput,
  }),
  arrayPath: '.collections',
  async handle({ search, system, limit, offset }, { signal, maxBytes }) {
    const filter = [search && `name ~ ${containing(search)}`, system ? '' : 'system = false']
      .filter(Boolean)
      .join(' && ');
    const part = { limit, offset, maxBytes };
    const answer = (collections: ReturnType<typeof described>[], paging: Paging) => ({
      collections,
      ...paging,
    });
    return list('collections', part, { filter, sort: 'name' }, described, answer, signal);
  },
});

const described = (from: JsonReader) => ({
  name: from.string('name'),
  type: from.string('type'),
  fields: from
    .list('fields')
    .filter((field) => !field.flag('hidden'))
    .map((field) => field.string('name')),
});
