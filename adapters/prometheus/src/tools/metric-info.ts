import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import { get } from '../api.ts';
import { labels } from '../samples.ts';

const examplesShown = 5;

export const metricInfo = defineTool({
  name: 'metric_info',
  displayName: 'Metric',
  description:
    'One metric: its type, help, number of series, and its labels with some values. Call it before you write a query about the metric.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      metric: { type: 'string', pattern: '^[a-zA-Z_:][a-zA-Z0-9_:]*$', description: 'Its exact name.' },
    },
    required: ['metric'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      metric: { type: 'string' },
      type: { type: 'string' },
      help: { type: 'string' },
      unit: { type: 'string' },
      series: { type: 'integer', description: 'How many there were in the last hour.' },
      labels: {
        type: 'array',
        maxItems: 50,
        items: {
          type: 'object',
          properties: {
            name: { type: 'string' },
            values: { type: 'integer', description: 'How many different ones.' },
            examples: { type: 'array', items: { type: 'string' } },
          },
          required: ['name', 'values', 'examples'],
        },
      },
    },
    required: ['metric', 'type', 'help', 'unit', 'series', 'labels'],
  },
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
