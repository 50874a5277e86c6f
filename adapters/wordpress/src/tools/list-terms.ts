import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { list } from '../api.ts';
import { listOf, paging } from '../shape.ts';
import { taxonomy, term, termOutput, termsOf } from '../terms.ts';

export const listTerms = defineTool({
  name: 'list_terms',
  displayName: 'List categories or tags',
  description:
    'Lists or searches the categories, or the tags, of the blog: the ids that other tools take.',
  annotations: { readOnlyHint: true },
  signIn: false,
  input: s.parameters({
    kind: taxonomy,
    search: s.optional(s.string('Words in the name.', { minLength: 1 })),
    ...paging,
  }),
  output: listOf(termOutput),
  handle: ({ kind, search, limit, offset }, { signal, maxBytes }) =>
    list(termsOf(kind), { limit, offset, maxBytes }, { search }, term, signal),
});
