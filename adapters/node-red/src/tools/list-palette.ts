import { defineTool } from '@tabrelay/plugin-sdk';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { send } from '../api.ts';

export const listPalette = defineTool({
  name: 'list_palette',
  displayName: 'Installed nodes',
  description:
    'The types of nodes that are installed, with module and version, and what could not be ' +
    'loaded. Look here before you create a flow.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    search: s.string('Only those whose module or types contain this.', { default: '' }),
    ...pagingInput,
  }),
  output: s.object({
    sets: s.array(
      s.object({
        module: s.string(),
        version: s.string(),
        enabled: s.boolean(),
        types: s.array(s.string()),
        error: s.optional(s.string('Why it could not be loaded.')),
      }),
    ),
    ...pagingOutput,
  }),
  arrayPath: '.sets',
  async handle({ search, ...part }, { signal, maxBytes }) {
    const wanted = search.toLowerCase();
    const installed = await send('nodes', {}, signal);
    installed.first(); // its own nodes are always there
    const all = installed.list().map(setOf);
    const found = all.filter(({ module, types }) =>
      [module, ...types].some((name) => name.toLowerCase().includes(wanted)),
    );
    return listPage(found, { ...part, maxBytes }, (sets, paging) => ({ sets, ...paging }));
  },
});

function setOf(from: JsonReader) {
  const error = from.maybe('err')?.value;
  return {
    module: from.string('module'),
    // A set that is no part of a package has none.
    version: from.maybe('version')?.string() ?? '',
    enabled: from.boolean('enabled'),
    types: from.strings('types'),
    ...(error === undefined
      ? {}
      : { error: typeof error === 'string' ? error : JSON.stringify(error) }),
  };
}
