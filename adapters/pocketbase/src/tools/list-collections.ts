import { defineTool } from '@tabrelay/plugin-sdk';
import { asText, isTrue, objectsIn } from '@tabrelay/plugin-sdk/json';
import { containing, get } from '../api.ts';
import { pageInput, pageOf, pageOutput } from '../records.ts';

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
      ...pageOutput,
    },
    required: ['collections', 'total'],
  },
  arrayPath: '.collections',
  async handle({ search, system, limit, page }, { signal }) {
    const filter = [search && `name ~ ${containing(search)}`, system ? '' : 'system = false']
      .filter(Boolean)
      .join(' && ');
    const answer = await get('collections', { page, perPage: limit, filter, sort: 'name' }, signal);
    const collections = objectsIn(answer.items).map((one) => ({
      name: asText(one.name),
      type: asText(one.type),
      fields: objectsIn(one.fields)
        .filter((field) => !isTrue(field.hidden))
        .map((field) => asText(field.name)),
    }));
    return { collections, ...pageOf(answer) };
  },
});
