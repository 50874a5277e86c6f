import { defineTool } from '@tabrelay/plugin-sdk';
import { listPart, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';
import { contains, searchInput } from '../search.ts';

export const listMetrics = defineTool({
  name: 'list_metrics',
  displayName: 'List metrics',
  description:
    'Names of the metrics the server has, with type and help. Narrow it with search; for ' +
    'the labels of one use metric_info.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    search: searchInput,
    ...pagingInput,
  }),
  output: s.object({
    metrics: s.array(
      s.object({
        name: s.string(),
        type: s.string('counter, gauge, histogram, summary; empty when it is not known.'),
        help: s.string(),
      }),
    ),
    ...pagingOutput,
  }),
  arrayPath: '.metrics',
  async handle({ search, ...part }, { signal, maxBytes }) {
    const [names, metadata] = await Promise.all([
      get('label/__name__/values', {}, signal),
      get('metadata', { limit_per_metric: 1 }, signal),
    ]);
    metadata.data.object();
    const all = names.data.strings().filter((name) => contains(name, search));
    const described = (name: string) => {
      // The parts of a histogram or summary are described under its own name; of some metrics nothing is known.
      const family = name.replace(/_(bucket|count|sum)$/, '');
      const known = metadata.data.maybe(name) ?? metadata.data.maybe(family);
      const about = known?.first();
      return { name, type: about?.string('type') ?? '', help: about?.string('help') ?? '' };
    };
    const { limit, offset } = part;
    const some = all.slice(offset, offset + limit).map(described);
    return listPart(some, { offset, total: all.length, maxBytes }, (metrics, paging) => ({
      metrics,
      ...paging,
    }));
  },
});
