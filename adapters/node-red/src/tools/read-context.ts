import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { send } from '../api.ts';

export const readContext = defineTool({
  name: 'read_context',
  displayName: 'Read context data',
  description:
    'What nodes keep between messages: the context of one node, of a flow, or the global ' +
    'one, by store and key.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    scope: s.choice(['global', 'flow', 'node'], 'Whose context.'),
    id: s.optional(s.string('Id of the flow or node; not for global.', { minLength: 1 })),
    search: s.string('Only keys that contain this.', { default: '' }),
    ...pagingInput,
  }),
  output: s.object({
    values: s.array(
      s.object({
        store: s.string(),
        key: s.string(),
        format: s.string(),
        value: s.string('Objects as JSON.'),
      }),
    ),
    ...pagingOutput,
  }),
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
