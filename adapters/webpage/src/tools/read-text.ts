import { defineTool } from '@tabrelay/plugin-sdk';
import { textInput, textOutput, textPage } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { here, hereOutput } from '../page.ts';
import { pageText } from '../shown.ts';

export const readText = defineTool({
  name: 'read_text',
  displayName: 'Read text',
  description:
    'All the words that an open page displays, menus included, in pieces. For an article ' +
    'read_article is shorter; to find something, search_text is faster.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    ...textInput,
  }),
  output: s.object({
    ...hereOutput,
    ...textOutput,
  }),
  handle: ({ offset, maxChars }, { maxBytes }) =>
    textPage(pageText(), { offset, maxChars, maxBytes }, (part) => ({ ...here(), ...part })),
});
