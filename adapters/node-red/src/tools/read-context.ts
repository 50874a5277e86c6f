import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import { send } from '../api.ts';

export const readContext = defineTool({
  name: 'read_context',
  displayName: 'Read context data',
  description:
    'What nodes keep between messages: the context of one node, of a flow, or the global one, by store and key.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      scope: { type: 'string', enum: ['global', 'flow', 'node'], description: 'Whose context.' },
      id: { type: 'string', minLength: 1, description: 'Id of the flow or node; not for global.' },
      search: { type: 'string', default: '', description: 'Only keys that contain this.' },
      ...pagingInput,
    },
    required: ['scope'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      values: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            store: { type: 'string' },
            key: { type: 'string' },
            format: { type: 'string' },
            value: { type: 'string', description: 'Objects as JSON.' },
          },
          required: ['store', 'key', 'format', 'value'],
        },
      },
      ...pagingOutput,
    },
    required: ['values', 'total'],
  },
  arrayPath: '.values',
  async handle({ scope, id, search, ...part }, { signal, maxBytes }) {
    if ((scope === 'global') === (id !== undefined)) {
      throw ToolError.validation(
        scope === 'global' ? 'The global context has no id.' : `Say the id of the ${scope}.`,
      );
    }
    const path = id === undefined ? scope : `${scope}/${encodeURIComponent(id)}`;
    const missing = `There is no ${scope} "${id}", or it has no context yet.`;
    const answer = await send(`context/${path}`, { missing }, signal);
    const stores = answer.entries();
    // Each store is named, also one in which nothing is kept. The global context is always there.
    if (stores.length === 0)
      throw id === undefined ? answer.fail('names no store') : ToolError.notFound(missing);
    const all = stores.flatMap(([store, keys]) =>
      keys.entries().map(([key, value]) => ({ store, key, ...kept(value) })),
    );
    const found = all.filter(({ key }) => key.includes(search));
    return listPage(found, { ...part, maxBytes }, (values, paging) => ({ values, ...paging }));
  },
});

/** A value without a JSON form has none. */
function kept(from: JsonReader) {
  const value = from.maybe('msg')?.value ?? null;
  return {
    format: from.string('format'),
    value: typeof value === 'string' ? value : JSON.stringify(value),
  };
}
