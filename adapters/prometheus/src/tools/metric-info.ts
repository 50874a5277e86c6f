import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';
import { labels } from '../samples.ts';

const examplesShown = 5;

export const metricInfo = defineTool({
  name: 'metric_info',
  displayName: 'Metric',
  description:
    'One metric: its type, help, number of series, and its labels with some values. Call ' +
    'it before you write a query about the metric.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    metric: s.string('Its exact name.', { pattern: '^[a-zA-Z_:][a-zA-Z0-9_:]*$' }),
  }),
  output: s.object({
    metric: s.string(),
    type: s.string(),
    help: s.string(),
    unit: s.string(),
    series: s.integer('How many there were in the last hour.'),
    labels: s.array(
      s.object({
        name: s.string(),
        values: s.integer('How many different ones.'),
        examples: s.array(s.string()),
      }),
      { maxItems: 50 },
    ),
  }),
  async handle({ metric }, { signal }) {
    const start = Math.floor(Date.now() / 1000) - 3600;
    const [series, metadata] = await Promise.all([
      get('series', { 'match[]': metric, start }, signal),
      get('metadata', { metric }, signal),
    ]);
    const found = series.data.list().map(labels);
    const known = metadata.data.maybe(metric)?.first();
    if (found.length === 0 && known === undefined) {
      throw ToolError.notFound(
        `There is no metric "${metric}". list_metrics finds metrics by a part of their name.`,
      );
    }
    // What no target describes has no type.
    const fact = (name: string) => known?.string(name) ?? '';
    const about = { type: fact('type'), help: fact('help'), unit: fact('unit') };
    return { metric, ...about, series: found.length, labels: labelsOf(found) };
  },
});

function labelsOf(series: readonly Record<string, string>[]) {
  const values = new Map<string, Set<string>>();
  for (const [name, value] of series.flatMap(Object.entries<string>)) {
    if (name !== '__name__') values.set(name, (values.get(name) ?? new Set()).add(value));
  }
  return [...values].slice(0, 50).map(([name, all]) => ({
    name,
    values: all.size,
    examples: [...all].slice(0, examplesShown),
  }));
}
