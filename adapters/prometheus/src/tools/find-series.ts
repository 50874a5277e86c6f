import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';
import { labels, labelsOutput } from '../samples.ts';

export const findSeries = defineTool({
  name: 'find_series',
  displayName: 'Find series',
  description: 'The series a selector matched in the last hours, as sets of labels without values.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    match: s.string('A selector such as {job="node",__name__=~"node_cpu.*"}.', { minLength: 1 }),
    hours: s.number('How far to look back.', { exclusiveMinimum: 0, default: 1 }),
    ...pagingInput,
  }),
  output: s.object({
    series: s.array(labelsOutput),
    ...pagingOutput,
  }),
  arrayPath: '.series',
  async handle({ match, hours, ...part }, { signal, maxBytes }) {
    const start = Math.floor(Date.now() / 1000 - hours * 3600);
    const { data } = await get('series', { 'match[]': match, start }, signal);
    const all = data.list().map(labels);
    return listPage(all, { ...part, maxBytes }, (series, paging) => ({ series, ...paging }));
  },
});
