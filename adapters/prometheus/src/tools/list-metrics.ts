import { defineTool } from '@tabrelay/plugin-sdk';
import { asText, objectAt, objectsIn, textsIn } from '@tabrelay/plugin-sdk/json';
import { pageOf, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import { get } from '../api.ts';
import { contains, searchInput } from '../search.ts';

export const listMetrics = defineTool({
  name: 'list_metrics',
  displayName: 'List metrics',
  description:
    'Names of the metrics the server has, with type and help. Narrow it with search; for the labels of one use metric_info.',
  annotations: { readOnlyHint: true },
  input: { type: 'object', properties: { search: searchInput, ...pagingInput }, additionalProperties: false },
  output: {
    type: 'object',
    properties: {
      metrics: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            type: {
              type: 'string',
              description: 'counter, gauge, histogram, summary; empty when it is not known.',
            },
            help: { type: 'string' },
          },
          required: ['name', 'type', 'help'],
        },
      },
      ...pagingOutput,
    },
    required: ['metrics', 'total'],
  },
  arrayPath: '.metrics',
  async handle({ search, ...part }, { signal }) {
    const [names, metadata] = await Promise.all([
      get('label/__name__/values', {}, signal),
      get('metadata', { limit_per_metric: 1 }, signal),
    ]);
    const { items, paging } = pageOf(
      textsIn(names.data).filter((name) => contains(name, search)),
      part,
    );
    const metrics = items.map((name) => {
      // The parts of a histogram or summary are described under its own name.
      const family = name.replace(/_(bucket|count|sum)$/, '');
      const known =
        objectsIn(objectAt(metadata.data)[name])[0] ?? objectsIn(objectAt(metadata.data)[family])[0];
      return { name, type: asText(known?.type), help: asText(known?.help) };
    });
    return { metrics, ...paging };
  },
});
