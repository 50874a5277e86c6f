import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';

export const listLabels = defineTool({
  name: 'list_labels',
  displayName: 'List labels',
  description: 'Names of the labels that series have, of all or of those a selector matches.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    match: s.optional(
      s.string('A selector such as up{job="node"}. Default: all series.', { minLength: 1 }),
    ),
    ...pagingInput,
  }),
  output: s.object({
    labels: s.array(s.string()),
    ...pagingOutput,
  }),
  arrayPath: '.labels',
  async handle({ match, ...part }, { signal, maxBytes }) {
    const { data } = await get('labels', { 'match[]': match }, signal);
    return listPage(data.strings(), { ...part, maxBytes }, (labels, paging) => ({
      labels,
      ...paging,
    }));
  },
});
