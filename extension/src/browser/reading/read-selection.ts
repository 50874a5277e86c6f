import { ToolError } from '@tabrelay/plugin-sdk';
import { textPage } from '@tabrelay/plugin-sdk/paging';
import { markedInField } from './fields.ts';
import { closest } from './members.ts';
import { cut, here } from './page.ts';

import type { Reading, Room } from './request.ts';
import { textOf } from './words.ts';

export function readSelection({ offset, maxChars }: Reading, room: Room) {
  const inField = markedInField(room);
  const selection = Document.prototype.getSelection.call(document);
  const text = inField || (selection?.toString() ?? '');
  if (text.trim() === '') {
    throw ToolError.notFound('Nothing is marked in this page. Ask the person to mark what they mean.');
  }
  const start = selection?.anchorNode;
  const element = start instanceof Element ? start : start?.parentElement;
  const block =
    element && !inField ? closest(element, 'p, li, td, th, h1, h2, h3, h4, h5, h6, pre, blockquote') : null;
  const about = { ...here(), around: block === null ? '' : cut(textOf(block).trim(), 1000) };
  return textPage(text, { offset, maxChars, maxBytes: room.maxBytes }, (part) => ({ ...about, ...part }));
}
