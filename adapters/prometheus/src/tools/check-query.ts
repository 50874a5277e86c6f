import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';

export const checkQuery = defineTool({
  name: 'check_query',
  displayName: 'Check a query',
  description:
    'Parses a PromQL expression without evaluating it, and answers it well formatted. A ' +
    'mistake is VALIDATION_ERROR with its place.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    query: s.string('PromQL.', { minLength: 1 }),
  }),
  output: s.object({
    formatted: s.string(),
  }),
  async handle({ query }, { signal }) {
    return { formatted: (await get('format_query', { query }, signal)).data.string() };
  },
});
