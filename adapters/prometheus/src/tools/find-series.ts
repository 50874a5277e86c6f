import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import { get } from '../api.ts';
import { labels, labelsOutput } from '../samples.ts';

export const findSeries = defineTool({
  name: 'find_series',
  displayName: 'Find series',
  description: 'The series a selector matched in the last hours, as sets of labels without values.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      match: {
        type: 'string',
        minLength: 1,
        description: 'A selector such as {job="node",__name__=~"node_cpu.*"}.',
      },
      hours: { type: 'number', exclusiveMinimum: 0, default: 1, description: 'How far to look back.' },
      ...pagingInput,
    },
    required: ['match'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: { series: { type: 'array', items: labelsOutput }, ...pagingOutput },
    required: ['series', 'total'],
  },
  arrayPath: '.series',
  async handle({ match, hours, ...part }, { signal, maxBytes }) {
    const start = Math.floor(Date.now() / 1000 - hours * 3600);
    const { data } = await get('series', { 'match[]': match, start }, signal);
    const all = data.list().map(labels);
    return listPage(all, { ...part, maxBytes }, (series, paging) => ({ series, ...paging }));
  },
});
