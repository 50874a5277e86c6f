import { defineTool } from '@tabrelay/plugin-sdk';
import { save, savedOutput } from '../edit.ts';

export const createPage = defineTool({
  name: 'create_page',
  displayName: 'Create page',
  description:
    'Creates a page that does not exist yet, in the name of the signed-in person. PAGE_EXISTS when there is one already.',
  annotations: { readOnlyHint: false, destructiveHint: false },
  input: {
    type: 'object',
    properties: {
      title: { type: 'string', minLength: 1, description: 'With its namespace: "Talk:Fox".' },
      text: { type: 'string', minLength: 1, description: 'Wikitext.' },
      summary: { type: 'string', maxLength: 500, default: '', description: 'Shown in the history.' },
    },
    required: ['title', 'text'],
    additionalProperties: false,
  },
  output: savedOutput,
  handle: ({ title, text, summary }, { signal }) => save({ title, text, summary, createonly: true }, signal),
});
