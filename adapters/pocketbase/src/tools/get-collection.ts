import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
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
    const type = found.string('type');
    return {
      name: found.string('name'),
      type,
      fields: found.list('fields').map(field),
      rules: Object.fromEntries(
        rules.map((rule) => [rule, found.at(rule).value === null ? null : found.string(rule)]),
      ),
      indexes: found.strings('indexes'),
      ...(type === 'view' ? { viewQuery: found.string('viewQuery') } : {}),
    };
  },
});

function field(from: JsonReader) {
  const { id: _, name: _name, type: _type, required: _required, system: _system, ...options } = from.object();
  // What is left empty, off or at zero says nothing.
  const set = Object.entries(options).filter(([, value]) => Boolean(value) && String(value) !== '');
  return {
    name: from.string('name'),
    type: from.string('type'),
    required: from.flag('required'),
    options: Object.fromEntries(set),
  };
}
