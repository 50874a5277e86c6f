import { defineTool } from '@tabrelay/plugin-sdk';
import { asNumber, asText, objectAt, objectsIn } from '@tabrelay/plugin-sdk/json';
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
    const status = objectAt((await get('status/tsdb', {}, signal)).data);
    const head = objectAt(status.headStats);
    const most = (list: unknown) =>
      objectsIn(list)
        .slice(0, limit)
        .map(({ name, value }) => ({ name: asText(name), value: asNumber(value) }));
    return {
      series: asNumber(head.numSeries),
      chunks: asNumber(head.chunkCount),
      labelPairs: asNumber(head.numLabelPairs),
      seriesByMetric: most(status.seriesCountByMetricName),
      valuesByLabel: most(status.labelValueCountByLabelName),
      seriesByLabelPair: most(status.seriesCountByLabelValuePair),
    };
  },
});
