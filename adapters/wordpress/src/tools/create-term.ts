import { defineTool } from '@tabrelay/plugin-sdk';
import { post } from '../api.ts';
import { taxonomy, term, termOutput, termsOf } from '../terms.ts';

export const createTerm = defineTool({
  name: 'create_term',
  displayName: 'Create category or tag',
  description:
    'Creates a category or a tag. TERM_EXISTS when there is one of that name: look with list_terms first.',
  annotations: { readOnlyHint: false, destructiveHint: false },
  input: {
    type: 'object',
    properties: {
      kind: taxonomy,
      name: { type: 'string', minLength: 1, maxLength: 200, description: 'As it is shown.' },
      description: { type: 'string', description: 'What belongs there.' },
      parent: { type: 'integer', minimum: 1, description: 'Id of the category above. Categories only.' },
    },
    required: ['kind', 'name'],
    additionalProperties: false,
  },
  output: termOutput,
  handle: async ({ kind, ...fields }, { signal }) => term(await post(termsOf(kind), fields, signal)),
});
