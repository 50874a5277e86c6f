import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { save, savedOutput } from '../edit.ts';

export const createPage = defineTool({
  name: 'create_page',
  displayName: 'Create page',
  description: 'Creates a page that does not exist yet. PAGE_EXISTS when there is one already.',
  annotations: { readOnlyHint: false, destructiveHint: false },
  input: s.parameters({
    title: s.string('With its namespace: "Talk:Fox".', { minLength: 1 }),
    text: s.string('Wikitext.', { minLength: 1 }),
    summary: s.string('Shown in the history.', { maxLength: 500, default: '' }),
  }),
  output: savedOutput,
  handle: ({ title, text, summary }, { signal }) =>
    save({ title, text, summary, createonly: true }, signal),
});
