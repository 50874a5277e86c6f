import { defineTool } from '@tabrelay/plugin-sdk';
import { textsIn } from '@tabrelay/plugin-sdk/json';
import { get } from '../api.ts';
import { page, pageInput, pageOutput } from '../paging.ts';

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
      ...pageInput,
    },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: { labels: { type: 'array', items: { type: 'string' } }, ...pageOutput },
    required: ['labels', 'total'],
  },
  arrayPath: '.labels',
  async handle({ match, ...part }, { signal }) {
    const { data } = await get('labels', { 'match[]': match }, signal);
    const { items, of } = page(textsIn(data), part);
    return { labels: items, ...of };
  },
});
