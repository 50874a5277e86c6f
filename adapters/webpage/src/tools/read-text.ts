import { defineTool } from '@tabrelay/plugin-sdk';
import { here, hereOutput } from '../page.ts';
import { pageText } from '../shown.ts';
import { textInput, textOutput, textSlice } from '../slices.ts';

export const readText = defineTool({
  name: 'read_text',
  displayName: 'Read text',
  description:
    'All the words that an open page displays, menus included, in pieces. For an article read_article is shorter; to find something, search_text is faster.',
  annotations: { readOnlyHint: true },
  input: { type: 'object', properties: { ...textInput }, additionalProperties: false },
  output: {
    type: 'object',
    properties: { ...hereOutput, ...textOutput },
    required: ['url', 'title', 'text', 'totalChars'],
  },
  handle: ({ offset, maxChars }) => ({ ...here(), ...textSlice(pageText(), offset, maxChars) }),
});
