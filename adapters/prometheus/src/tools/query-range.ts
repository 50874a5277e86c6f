import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';
import { labels, labelsOutput, numeric, samples, summary, warningsOutput } from '../samples.ts';

const point = s.array({ anyOf: [s.number(), s.string()] });

export const queryRange = defineTool({
  name: 'query_range',
  displayName: 'Query a range',
  description:
    'Evaluates a PromQL expression over time: each series with its smallest, largest, mean ' +
    'and last value and a few points. Ask for the last hour unless you need more.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    query: s.string('PromQL, such as rate(http_requests_total[5m]).', { minLength: 1 }),
    minutes: s.number('How long before the end.', { exclusiveMinimum: 0, default: 60 }),
    end: s.optional(s.string('RFC 3339 or Unix seconds. Default: now.')),
    points: s.integer('At most this many of each series.', {
      minimum: 1,
      maximum: 500,
      default: 20,
    }),
    ...pagingInput,
    limit: s.integer('Of series.', { minimum: 1, maximum: 100, default: 10 }),
  }),
  output: s.object({
    start: s.number('Unix seconds.'),
    end: s.number(),
    stepSeconds: s.number(),
    series: s.array(
      s.object({
        labels: labelsOutput,
        min: s.optional(s.number()),
        max: s.optional(s.number()),
        average: s.optional(s.number()),
        last: s.optional(s.number()),
        values: s.array(point, 'Pairs of Unix seconds and value.'),
      }),
    ),
    warnings: warningsOutput,
    ...pagingOutput,
  }),
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
    return listPage(all, { ...part, maxBytes }, (series, paging) => ({
      ...about,
      series,
      ...paging,
    }));
  },
});

function seconds(time: string): number {
  const found = Number.isFinite(Number(time)) ? Number(time) : Date.parse(time) / 1000;
  if (Number.isFinite(found)) return found;
  throw ToolError.validation(`"${time}" is neither an RFC 3339 time nor Unix seconds.`);
}
