import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import { textInput, textOutput, textPage } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { markedInField } from '../fields.ts';
import { closest, textOf } from '../members.ts';
import { cut, here, hereOutput } from '../page.ts';

export const readSelection = defineTool({
  name: 'read_selection',
  displayName: 'Read selection',
  description:
    'What the person has marked in an open page, or in a field of it, with the paragraph ' +
    'around. For requests such as "explain this". NOT_FOUND when nothing is marked.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    ...textInput,
  }),
  output: s.object({
    ...hereOutput,
    around: s.string('The paragraph, item or cell in which it begins.'),
    ...textOutput,
  }),
  handle({ offset, maxChars }, { maxBytes }) {
    const inField = markedInField();
    const selection = Document.prototype.getSelection.call(document);
    const text = inField || (selection?.toString() ?? '');
    if (text.trim() === '') {
      throw ToolError.notFound(
        'Nothing is marked in this page. Ask the person to mark what they mean.',
      );
    }
    const start = selection?.anchorNode;
    const element = start instanceof Element ? start : start?.parentElement;
    const block =
      element && !inField
        ? closest(element, 'p, li, td, th, h1, h2, h3, h4, h5, h6, pre, blockquote')
        : null;
    const about = { ...here(), around: block === null ? '' : cut(textOf(block).trim(), 1000) };
    return textPage(text, { offset, maxChars, maxBytes }, (part) => ({ ...about, ...part }));
  },
});
