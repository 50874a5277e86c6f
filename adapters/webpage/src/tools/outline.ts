import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { limitInput } from '../limits.ts';
import { attribute, tag, textOf } from '../members.ts';
import { cut, here, hereOutput, line } from '../page.ts';
import { findShown } from '../shown.ts';

export const outline = defineTool({
  name: 'outline',
  displayName: 'Outline',
  description:
    'The headings of an open page with their levels: what it is about before reading it. A ' +
    'heading can be found again with search_text.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    depth: s.integer('The lowest level to show.', { minimum: 1, maximum: 6, default: 4 }),
    offset: pagingInput.offset,
    limit: limitInput(50),
  }),
  output: s.object({
    ...hereOutput,
    headings: s.array(
      s.object({
        level: s.integer(),
        text: s.string(),
        anchor: s.optional(s.string('The address ends in # and this.')),
      }),
    ),
    ...pagingOutput,
  }),
  handle({ depth, offset, limit }, { maxBytes }) {
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
  },
});
