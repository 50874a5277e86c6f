import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { edit, savedOutput } from '../edit.ts';
import { invalid, pageExists } from '../failures.ts';
import { summaryInput } from '../pages.ts';

export const createPage = defineTool({
  name: 'create_page',
  displayName: 'Create page',
  description:
    'Creates a page that does not exist yet, in the name of the signed-in person; its namespace comes into ' +
    'being with it. PAGE_EXISTS when there is one already.',
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  input: s.parameters({
    id: s.string(
      'With its namespace: "animals:fox". The wiki makes it lower case, as it does links.',
      {
        minLength: 1,
      },
    ),
    text: s.string('Wiki markup; the title is its first heading: "====== Fox ======".', {
      minLength: 1,
    }),
    summary: summaryInput,
  }),
  output: savedOutput,
  async handle({ id, text, summary }, { signal }) {
    if (text.trim() === '') throw invalid('The text has no words.');
    const write = (editor: { id: string; date: number }) => {
      if (editor.date > 0) throw pageExists(editor.id);
      return { text, summary };
    };
    return edit({ id }, write, signal);
  },
});
