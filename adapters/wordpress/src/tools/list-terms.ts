import { defineTool } from '@tabrelay/plugin-sdk';
import { list } from '../api.ts';
import { listOf, paging } from '../shape.ts';
import { taxonomy, term, termOutput, termsOf } from '../terms.ts';

export const listTerms = defineTool({
  name: 'list_terms',
  displayName: 'List categories or tags',
  description: 'Lists or searches the categories, or the tags, of the blog: the ids that other tools take.',
  annotations: { readOnlyHint: true },
  signIn: false,
  input: {
    type: 'object',
    properties: {
      kind: taxonomy,
      search: { type: 'string', minLength: 1, description: 'Words in the name.' },
      ...paging,
    },
    required: ['kind'],
    additionalProperties: false,
  },
  output: listOf(termOutput),
  handle: ({ kind, search, limit, offset }, { signal, maxBytes }) =>
    list(termsOf(kind), { limit, offset, maxBytes }, { search }, term, signal),
});
