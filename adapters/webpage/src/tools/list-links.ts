import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage, pagingInput, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import { limitInput } from '../limits.ts';
import { attribute, textOf } from '../members.ts';
import { address, cut, here, hereOutput, line } from '../page.ts';
import { findShown } from '../shown.ts';

export const listLinks = defineTool({
  name: 'list_links',
  displayName: 'List links',
  description:
    'The links of an open page with their words and addresses, each once, optionally only those that contain some words or lead to another site.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      contains: {
        type: 'string',
        maxLength: 200,
        description: 'Words in the link or its address, case ignored.',
      },
      to: {
        type: 'string',
        enum: ['anywhere', 'same_site', 'other_sites'],
        default: 'anywhere',
        description: 'Which links, by the host they lead to.',
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
      links: {
        type: 'array',
        items: {
          type: 'object',
          properties: { text: { type: 'string' }, url: { type: 'string' } },
          required: ['text', 'url'],
        },
      },
      ...pagingOutput,
    },
    required: ['url', 'title', 'links', 'total'],
  },
  handle({ contains = '', to, offset, limit }, { maxBytes }) {
    const wanted = contains.toLowerCase();
    const links = new Map<string, { text: string; url: string }>();
    for (const element of findShown('a[href], area[href]')) {
      const url = address(attribute(element, 'href'));
      const label = textOf(element) || attribute(element, 'aria-label') || attribute(element, 'title');
      const text = cut(line(label || attribute(element, 'alt')), 200);
      if (url === '' || !`${text} ${url}`.toLowerCase().includes(wanted)) continue;
      if (to !== 'anywhere' && (new URL(url).host === location.host) !== (to === 'same_site')) continue;
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
