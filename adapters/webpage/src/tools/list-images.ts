import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { limitInput } from '../limits.ts';
import { attribute } from '../members.ts';
import { address, cut, here, hereOutput, line } from '../page.ts';
import { findShown } from '../shown.ts';

export const listImages = defineTool({
  name: 'list_images',
  displayName: 'List images',
  description:
    'The pictures of an open page: what they show as the page says it, address, size in ' +
    'pixels. Icons are left out unless asked for.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    minSize: s.integer('Leave out what is smaller than this many pixels, in width or height.', {
      minimum: 0,
      maximum: 10_000,
      default: 48,
    }),
    offset: pagingInput.offset,
    limit: limitInput(30),
  }),
  output: s.object({
    ...hereOutput,
    images: s.array(
      s.object({
        alt: s.string('Empty: the page does not say what it shows.'),
        url: s.string('A data: address is cut.'),
        width: s.integer('Of the file; 0 while it loads.'),
        height: s.integer(),
      }),
    ),
    ...pagingOutput,
  }),
  handle({ minSize, offset, limit }, { maxBytes }) {
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
  },
});
