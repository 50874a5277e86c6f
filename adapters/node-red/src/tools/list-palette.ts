import { defineTool } from '@tabrelay/plugin-sdk';
import { asText, isTrue, objectsIn, textsIn } from '@tabrelay/plugin-sdk/json';
import { pageOf, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import { send } from '../api.ts';

export const listPalette = defineTool({
  name: 'list_palette',
  displayName: 'Installed nodes',
  description:
    'The types of nodes that are installed, with module and version, and what could not be loaded. Look here before you create a flow.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      search: { type: 'string', default: '', description: 'Only those whose module or types contain this.' },
      ...pagingInput,
    },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      sets: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            module: { type: 'string' },
            version: { type: 'string' },
            enabled: { type: 'boolean' },
            types: { type: 'array', items: { type: 'string' } },
            error: { type: 'string', description: 'Why it could not be loaded.' },
          },
          required: ['module', 'version', 'enabled', 'types'],
        },
      },
      ...pagingOutput,
    },
    required: ['sets', 'total'],
  },
  arrayPath: '.sets',
  async handle({ search, ...part }, { signal }) {
    const wanted = search.toLowerCase();
    const all = objectsIn(await send('nodes', {}, signal)).map((set) => ({
      module: asText(set.module),
      version: asText(set.version),
      enabled: isTrue(set.enabled),
      types: textsIn(set.types),
      ...('err' in set ? { error: asText(set.err) || JSON.stringify(set.err) } : {}),
    }));
    const { items, paging } = pageOf(
      all.filter(({ module, types }) =>
        [module, ...types].some((name) => name.toLowerCase().includes(wanted)),
      ),
      part,
    );
    return { sets: items, ...paging };
  },
});
