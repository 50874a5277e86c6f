import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import { limitInput } from '../limits.ts';
import { attribute } from '../members.ts';
import { address, cut, here, hereOutput, line } from '../page.ts';
import { findShown } from '../shown.ts';

export const listImages = defineTool({
  name: 'list_images',
  displayName: 'List images',
  description:
    'The pictures of an open page: what they show as the page says it, address, size in pixels. Icons are left out unless asked for.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      minSize: {
        type: 'integer',
        minimum: 0,
        maximum: 10_000,
        default: 48,
        description: 'Leave out what is smaller than this many pixels, in width or height.',
      },
      offset: pagingInput.offset,
      limit: limitInput(30),
    },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      ...hereOutput,
      images: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            alt: { type: 'string', description: 'Empty: the page does not say what it shows.' },
            url: { type: 'string', description: 'A data: address is cut.' },
            width: { type: 'integer', description: 'Of the file; 0 while it loads.' },
            height: { type: 'integer' },
          },
          required: ['alt', 'url', 'width', 'height'],
        },
      },
      ...pagingOutput,
    },
    required: ['url', 'title', 'images', 'total'],
  },
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
