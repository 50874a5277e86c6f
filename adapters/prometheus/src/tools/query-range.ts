import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import { get } from '../api.ts';
import { labels, labelsOutput, numeric, samples, summary, warningsOutput } from '../samples.ts';

const point = { type: 'array', items: { anyOf: [{ type: 'number' }, { type: 'string' }] } } as const;

export const queryRange = defineTool({
  name: 'query_range',
  displayName: 'Query a range',
  description:
    'Evaluates a PromQL expression over time: each series with its smallest, largest, mean and last value and a few points. Ask for the last hour unless you need more.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      query: { type: 'string', minLength: 1, description: 'PromQL, such as rate(http_requests_total[5m]).' },
      minutes: { type: 'number', exclusiveMinimum: 0, default: 60, description: 'How long before the end.' },
      end: { type: 'string', description: 'RFC 3339 or Unix seconds. Default: now.' },
      points: {
        type: 'integer',
        minimum: 1,
        maximum: 500,
        default: 20,
        description: 'At most so many of each series.',
      },
      ...pagingInput,
      limit: { type: 'integer', minimum: 1, maximum: 100, default: 10, description: 'Of series.' },
    },
    required: ['query'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      start: { type: 'number', description: 'Unix seconds.' },
      end: { type: 'number' },
      stepSeconds: { type: 'number' },
      series: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            labels: labelsOutput,
            ...{ min: { type: 'number' }, max: { type: 'number' } },
            ...{ average: { type: 'number' }, last: { type: 'number' } },
            values: { type: 'array', items: point, description: 'Pairs of Unix seconds and value.' },
          },
          required: ['labels', 'values'],
        },
      },
      warnings: warningsOutput,
      ...pagingOutput,
    },
    required: ['start', 'end', 'stepSeconds', 'series', 'warnings', 'total'],
  },
  arrayPath: '.series',
  async handle({ query, minutes, end: until, points, ...part }, { signal, maxBytes }) {
    const end = until === undefined ? Math.floor(Date.now() / 1000) : seconds(until);
    // The first and the last moment are both points of the answer.
    const step = Math.max(1, Math.ceil((minutes * 60) / Math.max(1, points - 1)));
    const start = end - Math.min(points - 1, Math.floor((minutes * 60) / step)) * step;
    const { data, warnings } = await get('query_range', { query, start, end, step }, signal);
    const all = data.list('result').map((one) => {
      const found = samples(one);
      const values = found.map(({ time, value }) => [time, numeric(value)]);
      return { labels: labels(one.at('metric')), ...summary(found), values };
    });
    const about = { start, end, stepSeconds: step, warnings };
    return listPage(all, { ...part, maxBytes }, (series, paging) => ({ ...about, series, ...paging }));
  },
});

function seconds(time: string): number {
  const found = Number.isFinite(Number(time)) ? Number(time) : Date.parse(time) / 1000;
  if (Number.isFinite(found)) return found;
  throw ToolError.validation(`"${time}" is neither an RFC 3339 time nor Unix seconds.`);
}
