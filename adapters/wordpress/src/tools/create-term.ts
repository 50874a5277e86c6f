import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { post } from '../api.ts';
import { taxonomy, term, termOutput, termsOf } from '../terms.ts';

export const createTerm = defineTool({
  name: 'create_term',
  displayName: 'Create category or tag',
  description:
    'Creates a category or a tag. TERM_EXISTS when there is one of that name: look with ' +
    'list_terms first.',
  annotations: { readOnlyHint: false, destructiveHint: false },
  input: s.parameters({
    kind: taxonomy,
    name: s.string('As it is shown.', { minLength: 1, maxLength: 200 }),
    description: s.optional(s.string('What belongs there.')),
    parent: s.optional(s.integer('Id of the category above. Categories only.', { minimum: 1 })),
  }),
  output: termOutput,
  handle: async ({ kind, ...fields }, { signal }) =>
    term(await post(termsOf(kind), fields, signal)),
});
