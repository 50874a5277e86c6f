import { defineTool } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { attribute } from '../members.ts';
import { canonical, feeds, metaTags, openGraph, statements } from '../metadata.ts';
import { cut, here, hereOutput, root } from '../page.ts';
import { find } from '../shown.ts';

const text = s.string();
const named = { type: 'object', additionalProperties: text } as const;

export const pageInfo = defineTool({
  name: 'page_info',
  displayName: 'Page information',
  description:
    'What an open page says about itself: description, language, canonical address, Open ' +
    'Graph, JSON-LD (products, events, recipes, authors and prices as data), feeds.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    jsonLd: s.boolean('Whether to answer the JSON-LD too, which can be long.', { default: true }),
  }),
  output: s.object({
    ...hereOutput,
    description: text,
    language: text,
    canonical: s.string('Empty: the page names none.'),
    openGraph: named,
    meta: { ...named, description: 'Other meta tags, without tokens.' },
    feeds: s.array(text, { maxItems: 20 }),
    jsonLd: s.optional(s.array({ type: 'object' }, { maxItems: 20 })),
    frames: s.integer('How many frames it has; what is in them is not read.'),
  }),
  handle({ jsonLd }) {
    const meta = metaTags();
    const { description = '', ...others } = meta;
    return {
      ...here(),
      description,
      language: cut(attribute(root(), 'lang'), 35),
      canonical: canonical(),
      openGraph: openGraph(),
      meta: others,
      feeds: feeds(),
      ...(jsonLd && { jsonLd: statements() }),
      frames: Array.from(find('iframe, frame')).length,
    };
  },
});
