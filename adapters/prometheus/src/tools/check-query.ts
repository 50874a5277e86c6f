import { defineTool } from '@tabrelay/plugin-sdk';
import { get } from '../api.ts';

export const checkQuery = defineTool({
  name: 'check_query',
  displayName: 'Check a query',
  description:
    'Parses a PromQL expression without evaluating it, and answers it well formatted. A mistake is VALIDATION_ERROR with its place.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: { query: { type: 'string', minLength: 1, description: 'PromQL.' } },
    required: ['query'],
    additionalProperties: false,
  },
  output: { type: 'object', properties: { formatted: { type: 'string' } }, required: ['formatted'] },
  async handle({ query }, { signal }) {
    return { formatted: (await get('format_query', { query }, signal)).data.string() };
  },
});
