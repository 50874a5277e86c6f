import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';
import { labels, labelsOutput, sample, samples, warningsOutput } from '../samples.ts';

export const query = defineTool({
  name: 'query',
  displayName: 'Query now',
  description:
    'Evaluates a PromQL expression at one moment: the current value of each series. For a ' +
    'course over time use query_range; for names use list_metrics.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    query: s.string('PromQL, such as sum by (job) (up).', { minLength: 1 }),
    time: s.optional(s.string('RFC 3339 or Unix seconds. Default: now.')),
    ...pagingInput,
  }),
  output: s.object({
    resultType: s.string('vector, scalar, string or matrix.'),
    series: s.array(
      s.object({
        labels: labelsOutput,
        value: s.string('The value, or the last one of a matrix. NaN and +Inf are possible.'),
        time: s.number('Unix seconds.'),
      }),
    ),
    warnings: warningsOutput,
    ...pagingOutput,
  }),
  arrayPath: '.series',
  async handle({ query: expression, time, ...part }, { signal, maxBytes }) {
    const { data, warnings } = await get('query', { query: expression, time }, signal);
    const resultType = data.string('resultType');
    const flat = resultType === 'scalar' || resultType === 'string';
    const all = flat
      ? [{ labels: {}, ...sample(data.at('result')) }]
      : data.list('result').map((one) => ({
          labels: labels(one.at('metric')),
          ...(samples(one).at(-1) ?? one.fail('has no sample')),
        }));
    return listPage(all, { ...part, maxBytes }, (series, paging) => ({
      resultType,
      series,
      warnings,
      ...paging,
    }));
  },
});
