import { listPage } from '@tabrelay/plugin-sdk/paging';
import { attribute } from './members.ts';
import { address, cut, here, line } from './page.ts';
import type { Reading, Room } from './request.ts';
import { findShown } from './shown.ts';

export function listImages({ minSize, offset, limit }: Reading, { maxBytes }: Room) {
  const found = Array.from(findShown('img')).flatMap((image) => {
    if (!(image instanceof HTMLImageElement)) return [];
    const { naturalWidth: width, naturalHeight: height } = image;
    const smaller = image.complete && Math.min(width, height) < minSize;
    const url = address(image.currentSrc || attribute(image, 'src'));
    return smaller || url === ''
      ? []
      : [{ alt: cut(line(attribute(image, 'alt')), 300), url, width, height }];
  });
  return listPage(found, { limit, offset, maxBytes }, (images, paging) => ({
    ...here(),
    images,
    ...paging,
  }));
}
