import { defineTool } from '@tabrelay/plugin-sdk';
import { listPage, pagingOutput } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { isSignedIn, open, partOf, textOf } from '../api.ts';
import { invalid } from '../failures.ts';
import { idOf } from '../pages.ts';

export const search = defineTool({
  name: 'search',
  displayName: 'Search pages',
  description:
    'Full-text search of the wiki that is open, besides pages whose name matches. Returns names with a ' +
    'snippet; read one with read_page or read_rendered.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    query: s.string('All of these words; "a phrase", -without, part*.', { minLength: 1 }),
    namespace: s.optional(s.string('Only in it: "animals".', { minLength: 1 })),
    sort: s.choice(['hits', 'mtime'], 'mtime: the last changed first.', { default: 'hits' }),
    limit: s.integer('How many results.', { minimum: 1, maximum: 100, default: 10 }),
    offset: s.integer('From nextOffset of the previous answer.', { minimum: 0, default: 0 }),
  }),
  output: s.object({
    results: s.array(
      s.object({
        id: s.string(),
        title: s.string(),
        modified: s.optional(s.string()),
        snippet: s.optional(s.string('The first results have one.')),
      }),
    ),
    signedIn: s.boolean('False: pages that only members may read are left out.'),
    ...pagingOutput,
  }),
  async handle({ query, namespace, sort, limit, offset }, { signal, maxBytes }) {
    const q = namespace === undefined ? query : `${query} @${namespace}`;
    const { action, page } = await open({ do: 'search', q, sf: 1, srt: sort }, signal, ['show']);
    if (action === 'show') throw invalid('The query has no words.');
    partOf(page, '.search-results-form');
    const hits = [...page.querySelectorAll('.search_results dt a.wikilink1')].map(hitOf);
    const found = new Set(hits.map(({ id }) => id));
    const named = [...page.querySelectorAll('.search_quickhits a.wikilink1')]
      .map((link) => ({ id: idOf(link), title: textOf(link) }))
      .filter(({ id }) => !found.has(id));
    const part = { limit, offset, maxBytes };
    const signedIn = isSignedIn(page);
    return listPage([...named, ...hits], part, (results, paging) => ({
      results,
      signedIn,
      ...paging,
    }));
  },
});

function hitOf(link: Element) {
  const id = idOf(link);
  const parts: Element[] = [];
  // Beside it stand its lines, up to the next hit where a template does not keep each in an element of its own.
  for (let next = link.closest('dt')?.nextElementSibling; next?.localName === 'dd'; ) {
    parts.push(next);
    next = next.nextElementSibling;
  }
  const modified = parts
    .map((one) => one.querySelector('time')?.getAttribute('datetime'))
    .find(Boolean);
  const snippet = textOf(parts.find((one) => one.classList.contains('snippet')));
  return {
    id,
    title: textOf(link),
    ...(modified ? { modified } : {}),
    ...(snippet === '' ? {} : { snippet }),
  };
}
