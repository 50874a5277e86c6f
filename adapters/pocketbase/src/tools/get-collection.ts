import { defineTool } from '@tabrelay/plugin-sdk';
import { asText, isTrue, type JsonObject, objectsIn, textsIn } from '@tabrelay/plugin-sdk/json';
import { get } from '../api.ts';
import { collectionInput } from '../records.ts';

const rules = ['listRule', 'viewRule', 'createRule', 'updateRule', 'deleteRule'] as const;

export const getCollection = defineTool({
  name: 'get_collection',
  displayName: 'Schema of a collection',
  description:
    'The schema of one collection: its fields with types and limits, its API rules and indexes. Read it before you write records.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: { collection: collectionInput },
    required: ['collection'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      name: { type: 'string' },
      type: { type: 'string' },
      fields: {
        type: 'array',
        maxItems: 500,
        items: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            type: { type: 'string' },
            required: { type: 'boolean' },
            options: {
              type: 'object',
              description: 'Limits, values to select from, the related collection.',
            },
          },
          required: ['name', 'type', 'required', 'options'],
        },
      },
      rules: {
        type: 'object',
        additionalProperties: { anyOf: [{ type: 'string' }, { type: 'null' }] },
        description: 'Who may do what: a filter, empty for everybody, null for superusers alone.',
      },
      indexes: { type: 'array', maxItems: 500, items: { type: 'string' } },
      viewQuery: { type: 'string', description: 'Of a view: its SQL.' },
    },
    required: ['name', 'type', 'fields', 'rules', 'indexes'],
  },
  async handle({ collection }, { signal }) {
    const found = await get(`collections/${encodeURIComponent(collection)}`, {}, signal);
    return {
      name: asText(found.name),
      type: asText(found.type),
      fields: objectsIn(found.fields).map(field),
      rules: Object.fromEntries(
        rules.map((rule) => [rule, found[rule] === null ? null : asText(found[rule])]),
      ),
      indexes: textsIn(found.indexes),
      ...(found.type === 'view' ? { viewQuery: asText(found.viewQuery) } : {}),
    };
  },
});

function field({ id: _, name, type, required, system: _system, ...options }: JsonObject) {
  // What is left empty, off or at zero says nothing.
  const set = Object.entries(options).filter(([, value]) => Boolean(value) && String(value) !== '');
  return {
    name: asText(name),
    type: asText(type),
    required: isTrue(required),
    options: Object.fromEntries(set),
  };
}
