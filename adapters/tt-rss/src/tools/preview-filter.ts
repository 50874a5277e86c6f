import { defineTool } from '@tabrelay/plugin-sdk';
import { parseHTML } from '@tabrelay/plugin-sdk/html';
import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { listBeside } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { ask } from '../api.ts';
import { invalid } from '../failures.ts';
import { categoryId, feedId } from '../shape.ts';

const fields = { title: 1, content: 2, title_or_content: 3, link: 4, author: 6, tag: 7 } as const;

const atOnce = 100;

export const previewFilter = defineTool({
  name: 'preview_filter',
  displayName: 'Preview filter',
  description:
    'Which of the newest articles a filter with this rule would match; nothing is made or ' +
    'changed. The person makes filters in the preferences.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    pattern: s.string('A regular expression; case does not matter.', { minLength: 1 }),
    on: s.choice(
      ['title', 'content', 'title_or_content', 'link', 'author', 'tag'],
      'Where to look for it.',
      { default: 'title' },
    ),
    inverse: s.boolean('Match those without the pattern.', { default: false }),
    feedId: s.optional(feedId),
    categoryId: s.optional({ ...categoryId, minimum: 1 }),
    articles: s.integer('How many of the newest to look at.', {
      minimum: atOnce,
      maximum: 1000,
      multipleOf: atOnce,
      default: 200,
    }),
  }),
  output: s.object({
    matches: s.array(s.object({ title: s.string(), feed: s.string(), date: s.string() }), {
      maxItems: 1000,
    }),
    totalMatches: s.integer('How many there are, when not all are listed.'),
  }),
  async handle({ pattern, on, inverse, feedId, categoryId, articles }, { signal, maxBytes }) {
    const feeds = [
      ...(feedId === undefined ? [] : [String(feedId)]),
      ...(categoryId === undefined ? [] : [`CAT:${categoryId}`]),
    ];
    const rule = { reg_exp: pattern, filter_type: fields[on], inverse, feed_id: feeds };
    const found = [];
    for (let offset = 0; offset < articles; offset += atOnce) {
      const page = { offset, limit: atOnce, 'rule[]': JSON.stringify(rule) };
      found.push(...(await ask('Pref_Filters.testFilterDo', page, signal)).list().map(match));
    }
    if (found.length === 0 && !isPattern(pattern))
      throw invalid('Nothing matches, and the pattern does not seem to be a regular expression.');
    const matches = listBeside(found, { maxBytes });
    return { matches, totalMatches: found.length };
  },
});

function match(from: JsonReader) {
  const item = parseHTML(from.string());
  const part = (name: string) =>
    item.querySelector(`.${name}`)?.textContent?.trim() ?? from.fail(`has no ${name}`);
  return { title: part('title'), feed: part('feed'), date: part('date') };
}

function isPattern(pattern: string): boolean {
  try {
    return new RegExp(pattern, 'u') instanceof RegExp;
  } catch {
    return false;
  }
}
