import { defineTool } from '@tabrelay/plugin-sdk';
import { htmlToText } from '@tabrelay/plugin-sdk/html';
import { textInput, textOutput, textPage } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { open, partOf } from '../api.ts';
import { noSuchPage } from '../failures.ts';
import { idInput, nameOf } from '../pages.ts';

export const readRendered = defineTool({
  name: 'read_rendered',
  displayName: 'Read page',
  description:
    'A page as a reader sees it, as plain text: what plugins of the wiki insert is in it, markup is not.',
  annotations: { readOnlyHint: true },
  input: s.parameters({ id: idInput, ...textInput }),
  output: s.object(textOutput),
  async handle({ id, offset, maxChars }, { signal, maxBytes }) {
    const shown = await open({ do: 'export_xhtml', id: nameOf(id) }, signal, ['show']);
    if (shown.action === 'show') throw noSuchPage(shown.id);
    const body = partOf(shown.page, 'body > .export');
    const text = htmlToText(body, { without: '#dw__toc, .secedit', heading: '=' });
    return textPage(text, { offset, maxChars, maxBytes }, (part) => part);
  },
});
