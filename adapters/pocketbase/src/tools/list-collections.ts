import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { type Paging, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import { containing, list } from '../api.ts';
import { pageInput } from '../records.ts';

export const listCollections = defineTool({
  name: 'list_collections',
  displayName: 'List collections',
  description:
    'The collections (tables) of the database with their type and fields. Begin here; get_collection has the details of one.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      search: { type: 'string', default: '', description: 'Only those whose name contains this.' },
      system: { type: 'boolean', default: false, description: "The server's own collections too." },
      ...pageInput,
    },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      collections: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            type: { type: 'string', description: 'base, auth (its records are users) or view (read-only).' },
            fields: { type: 'array', items: { type: 'string' } },
          },
          required: ['name', 'type', 'fields'],
        },
      },
      ...pagingOutput,
    },
    required: ['collections', 'total'],
  },
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
