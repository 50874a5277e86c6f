import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import { asText, type JsonObject, objectAt } from '@tabrelay/plugin-sdk/json';
import { pageOf, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
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
  async handle({ scope, id, search, ...part }, { signal }) {
    if ((scope === 'global') === (id !== undefined)) {
      throw ToolError.validation(
        scope === 'global' ? 'The global context has no id.' : `Say the id of the ${scope}.`,
      );
    }
    const path = id === undefined ? scope : `${scope}/${encodeURIComponent(id)}`;
    const missing = `There is no ${scope} "${id}", or it has no context yet.`;
    const answer = objectAt(await send(`context/${path}`, { missing }, signal));
    const all = Object.entries(answer).flatMap(([store, keys]) =>
      Object.entries(objectAt(keys)).map(([key, value]) => ({ store, key, ...kept(objectAt(value)) })),
    );
    const { items, paging } = pageOf(
      all.filter(({ key }) => key.includes(search)),
      part,
    );
    return { values: items, ...paging };
  },
});

const kept = ({ msg, format }: JsonObject) => ({
  format: asText(format),
  value: typeof msg === 'string' ? msg : JSON.stringify(msg ?? null),
});
