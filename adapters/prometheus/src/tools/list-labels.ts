import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import { get } from '../api.ts';

export const listLabels = defineTool({
  name: 'list_labels',
  displayName: 'List labels',
  description: 'Names of the labels that series have, of all or of those a selector matches.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      match: {
        type: 'string',
        minLength: 1,
        description: 'A selector such as up{job="node"}. Default: all series.',
      },
      ...pagingInput,
    },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: { labels: { type: 'array', items: { type: 'string' } }, ...pagingOutput },
    required: ['labels', 'total'],
  },
  arrayPath: '.labels',
  async handle({ match, ...part }, { signal, maxBytes }) {
    const { data } = await get('labels', { 'match[]': match }, signal);
    return listPage(data.strings(), { ...part, maxBytes }, (labels, paging) => ({ labels, ...paging }));
  },
});
