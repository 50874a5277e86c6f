import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';
import { collectionInput } from '../records.ts';

const rules = ['listRule', 'viewRule', 'createRule', 'updateRule', 'deleteRule'] as const;

export const getCollection = defineTool({
  name: 'get_collection',
  displayName: 'Schema of a collection',
  description:
    'The schema of one collection: its fields with types and limits, its API rules and ' +
    'indexes. Read it before you write records.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    collection: collectionInput,
  }),
  output: s.object({
    name: s.string(),
    type: s.string(),
    fields: s.array(
      s.object({
        name: s.string(),
        type: s.string(),
        required: s.boolean(),
        options: {
          type: 'object',
          description: 'Limits, values to select from, the related collection.',
        },
      }),
      { maxItems: 500 },
    ),
    rules: {
      type: 'object',
      additionalProperties: { anyOf: [s.string(), { type: 'null' }] },
      description: 'Who may do what: a filter, empty for everybody, null for superusers alone.',
    },
    indexes: s.array(s.string(), { maxItems: 500 }),
    viewQuery: s.optional(s.string('Of a view: its SQL.')),
  }),
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
  const {
    id: _,
    name: _name,
    type: _type,
    required: _required,
    system: _system,
    ...options
  } = from.object();
  // What is left empty, off or at zero says nothing.
  const set = Object.entries(options).filter(([, value]) => Boolean(value) && String(value) !== '');
  return {
    name: from.string('name'),
    type: from.string('type'),
    required: from.flag('required'),
    options: Object.fromEntries(set),
  };
}
