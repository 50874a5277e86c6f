import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { limitInput } from '../limits.ts';
import { attribute, textOf } from '../members.ts';
import { address, cut, here, hereOutput, line } from '../page.ts';
import { findShown } from '../shown.ts';

export const listLinks = defineTool({
  name: 'list_links',
  displayName: 'List links',
  description:
    'The links of an open page with their words and addresses, each once, optionally only ' +
    'those that contain some words or lead to another site.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    contains: s.optional(
      s.string('Words in the link or its address, case ignored.', { maxLength: 200 }),
    ),
    to: s.choice(
      ['anywhere', 'same_site', 'other_sites'],
      'Which links, by the host they lead to.',
      {
        default: 'anywhere',
      },
    ),
    offset: pagingInput.offset,
    limit: limitInput(30),
  }),
  output: s.object({
    ...hereOutput,
    links: s.array(
      s.object({
        text: s.string(),
        url: s.string(),
      }),
    ),
    ...pagingOutput,
  }),
  handle({ contains = '', to, offset, limit }, { maxBytes }) {
    const wanted = contains.toLowerCase();
    const links = new Map<string, { text: string; url: string }>();
    for (const element of findShown('a[href], area[href]')) {
      const url = address(attribute(element, 'href'));
      const label =
        textOf(element) || attribute(element, 'aria-label') || attribute(element, 'title');
      const text = cut(line(label || attribute(element, 'alt')), 200);
      if (url === '' || !`${text} ${url}`.toLowerCase().includes(wanted)) continue;
      if (to !== 'anywhere' && (new URL(url).host === location.host) !== (to === 'same_site'))
        continue;
      links.set(`${url} ${text}`, { text, url });
    }
    const all = [...links.values()];
    return listPage(all, { limit, offset, maxBytes }, (some, paging) => ({
      ...here(),
      links: some,
      ...paging,
    }));
  },
});
