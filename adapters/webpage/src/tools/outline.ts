import { defineTool } from '@tabrelay/plugin-sdk';
import { attribute, tag, textOf } from '../members.ts';
import { cut, here, hereOutput, line } from '../page.ts';
import { findShown } from '../shown.ts';
import { limitInput, listOutput, listSlice, offsetInput } from '../slices.ts';

export const outline = defineTool({
  name: 'outline',
  displayName: 'Outline',
  description:
    'The headings of an open page with their levels: what it is about before reading it. A heading can be found again with search_text.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      depth: {
        type: 'integer',
        minimum: 1,
        maximum: 6,
        default: 4,
        description: 'The lowest level to show.',
      },
      offset: offsetInput,
      limit: limitInput(50),
    },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      ...hereOutput,
      headings: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            level: { type: 'integer' },
            text: { type: 'string' },
            anchor: { type: 'string', description: 'The address ends in # and this.' },
          },
          required: ['level', 'text'],
        },
      },
      ...listOutput,
    },
    required: ['url', 'title', 'headings', 'total'],
  },
  handle({ depth, offset, limit }) {
    const found = Array.from(findShown('h1, h2, h3, h4, h5, h6, [role="heading"]'), (one) => {
      const level = Number(/^h([1-6])$/.exec(tag(one))?.[1] ?? (attribute(one, 'aria-level') || 2));
      const anchor = cut(attribute(one, 'id'), 200);
      return { level: Math.trunc(level) || 2, text: cut(line(textOf(one)), 300), ...(anchor && { anchor }) };
    }).filter(({ level, text }) => level <= depth && text !== '');
    const { some, rest } = listSlice(found, offset, limit);
    return { ...here(), headings: some, ...rest };
  },
});
