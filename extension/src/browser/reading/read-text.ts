import { textPage } from '@tabrelay/plugin-sdk/paging';
import { here } from './page.ts';
import type { Reading, Room } from './request.ts';
import { pageText } from './shown.ts';

export function readText({ offset, maxChars }: Reading, { maxBytes }: Room) {
  return textPage(pageText(), { offset, maxChars, maxBytes }, (part) => ({ ...here(), ...part }));
}
