import { defineTool } from '@tabrelay/plugin-sdk';
import { attribute } from '../members.ts';
import { canonical, feeds, metaTags, openGraph, statements } from '../metadata.ts';
import { cut, here, hereOutput, root } from '../page.ts';
import { find } from '../shown.ts';

const text = { type: 'string' } as const;
const named = { type: 'object', additionalProperties: text } as const;

export const pageInfo = defineTool({
  name: 'page_info',
  displayName: 'Page information',
  description:
    'What an open page says about itself: description, language, canonical address, Open Graph, JSON-LD (products, events, recipes, authors and prices as data), feeds.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      jsonLd: {
        type: 'boolean',
        default: true,
        description: 'Whether to answer the JSON-LD too, which can be long.',
      },
    },
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      ...hereOutput,
      description: text,
      language: text,
      canonical: { type: 'string', description: 'Empty: the page names none.' },
      openGraph: named,
      meta: { ...named, description: 'Other meta tags, without tokens.' },
      feeds: { type: 'array', maxItems: 20, items: text },
      jsonLd: { type: 'array', maxItems: 20, items: { type: 'object' } },
      frames: { type: 'integer', description: 'How many frames it has; what is in them is not read.' },
    },
    required: [
      'url',
      'title',
      'description',
      'language',
      'canonical',
      'openGraph',
      'meta',
      'feeds',
      'frames',
    ],
  },
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
