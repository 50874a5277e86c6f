import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';

const counted = s.array(
  s.object({
    name: s.string(),
    value: s.integer(),
  }),
);

export const tsdbStatus = defineTool({
  name: 'tsdb_status',
  displayName: 'Storage status',
  description:
    'How many series the database holds in memory, and which metrics and labels make the ' +
    'most of them: where to look when it grows too large.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    limit: s.integer('Of each list.', { minimum: 1, maximum: 10, default: 10 }),
  }),
  output: s.object({
    series: s.integer(),
    chunks: s.integer(),
    labelPairs: s.integer(),
    seriesByMetric: counted,
    valuesByLabel: counted,
    seriesByLabelPair: counted,
  }),
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
