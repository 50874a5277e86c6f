import { listPage } from '@tabrelay/plugin-sdk/paging';
import { attribute } from './members.ts';
import { address, cut, here, line } from './page.ts';
import type { Reading, Room } from './request.ts';
import { findShown } from './shown.ts';
import { textOf } from './words.ts';

export function listLinks({ contains, offset, limit }: Reading, { maxBytes }: Room) {
  const wanted = contains.toLowerCase();
  const links = new Map<string, { text: string; url: string }>();
  for (const element of findShown('a[href], area[href]')) {
    const url = address(attribute(element, 'href'));
    const label = textOf(element) || attribute(element, 'aria-label') || attribute(element, 'title');
    const text = cut(line(label || attribute(element, 'alt')), 200);
    if (url === '' || !`${text} ${url}`.toLowerCase().includes(wanted)) continue;
    links.set(`${url} ${text}`, { text, url });
  }
  const all = [...links.values()];
  return listPage(all, { limit, offset, maxBytes }, (some, paging) => ({
    ...here(),
    links: some,
    ...paging,
  }));
}
