import { listPage } from '@tabrelay/plugin-sdk/paging';
import { attribute, tag } from './members.ts';
import { cut, here, line } from './page.ts';
import type { Reading, Room } from './request.ts';
import { findShown } from './shown.ts';
import { textOf } from './words.ts';

export function outline({ depth, offset, limit }: Reading, { maxBytes }: Room) {
  const found = Array.from(findShown('h1, h2, h3, h4, h5, h6, [role="heading"]'), (one) => {
    const level = Number(/^h([1-6])$/.exec(tag(one))?.[1] ?? (attribute(one, 'aria-level') || 2));
    const anchor = cut(attribute(one, 'id'), 200);
    return {
      level: Math.trunc(level) || 2,
      text: cut(line(textOf(one)), 300),
      ...(anchor && { anchor }),
    };
  }).filter(({ level, text }) => level <= depth && text !== '');
  return listPage(found, { limit, offset, maxBytes }, (headings, paging) => ({
    ...here(),
    headings,
    ...paging,
  }));
}
