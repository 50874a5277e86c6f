import { defineTool } from '@tabrelay/plugin-sdk';
import { get } from '../api.ts';

const counted = {
  type: 'array',
  items: {
    type: 'object',
    properties: { name: { type: 'string' }, value: { type: 'integer' } },
    required: ['name', 'value'],
  },
} as const;

export const tsdbStatus = defineTool({
  name: 'tsdb_status',
  displayName: 'Storage status',
  description:
    'How many series the database holds in memory, and which metrics and labels make the most of them: where to look when it grows too large.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      limit: { type: 'integer', minimum: 1, maximum: 10, default: 10, description: 'Of each list.' },
    },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      series: { type: 'integer' },
      chunks: { type: 'integer' },
      labelPairs: { type: 'integer' },
      seriesByMetric: counted,
      valuesByLabel: counted,
      seriesByLabelPair: counted,
    },
    required: ['series', 'chunks', 'labelPairs', 'seriesByMetric', 'valuesByLabel', 'seriesByLabelPair'],
  },
  async handle({ limit }, { signal }) {
    const status = (await get('status/tsdb', {}, signal)).data;
    const most = (list: string) =>
      status
        .list(list)
        .slice(0, limit)
        .map((one) => ({ name: one.string('name'), value: one.number('value') }));
    return {
      series: status.number('headStats', 'numSeries'),
      chunks: status.number('headStats', 'chunkCount'),
      labelPairs: status.number('headStats', 'numLabelPairs'),
      seriesByMetric: most('seriesCountByMetricName'),
      valuesByLabel: most('labelValueCountByLabelName'),
      seriesByLabelPair: most('seriesCountByLabelValuePair'),
    };
  },
});
