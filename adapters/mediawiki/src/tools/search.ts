import { defineTool } from '@tabrelay/plugin-sdk';
import { plainText } from '@tabrelay/plugin-sdk/html';
import { listPart } from '@tabrelay/plugin-sdk/paging';
import * as s from '@tabrelay/plugin-sdk/schema';
import { get } from '../api.ts';

export const search = defineTool({
  name: 'search',
  displayName: 'Search pages',
  description:
    'Full-text search of the wiki that is open. Returns titles with a snippet; read one ' +
    'with read_page or read_rendered.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    query: s.string('Words to find. The search syntax of the wiki works too.', { minLength: 1 }),
    limit: s.integer('How many results.', { minimum: 1, maximum: 50, default: 10 }),
    offset: s.integer('From nextOffset of the previous answer.', { minimum: 0, default: 0 }),
  }),
  output: s.object({
    total: s.optional(s.integer('How many there are, where the wiki counts them.')),
    results: s.array(
      s.object({
        title: s.string(),
        snippet: s.string(),
        words: s.integer(),
        timestamp: s.string('Of the last change.'),
      }),
    ),
    nextOffset: s.optional(s.integer('Present when there are more results.')),
  }),
  async handle({ query, limit, offset }, { signal, maxBytes }) {
    const params = {
      action: 'query',
      list: 'search',
      srsearch: query,
      srlimit: limit,
      sroffset: offset,
    };
    let answer = await get({ ...params, srwhat: 'text' }, signal);
    // A wiki that searches in its own database keeps titles apart; what it searches by default is them.
    if (answer.list('query', 'search').length === 0) answer = await get(params, signal);
    const hits = answer.list('query', 'search').map((hit) => ({
      title: hit.string('title'),
      snippet: plainText(hit.string('snippet')),
      words: hit.number('wordcount'),
      timestamp: hit.string('timestamp'),
    }));
    const total = answer.at('query').maybe('searchinfo', 'totalhits')?.number();
    const next = answer.maybe('continue', 'sroffset')?.number();
    if (next === undefined && !answer.flag('batchcomplete')) answer.number('continue', 'sroffset');
    const counted = total === undefined ? {} : { total };
    const known = { offset, total: next ?? offset + hits.length, maxBytes };
    return listPart(hits, known, (results, { nextOffset }) => ({
      ...counted,
      results,
      // The wiki may leave out hits that it counts.
      ...(nextOffset === undefined
        ? {}
        : { nextOffset: results.length < hits.length ? nextOffset : (next ?? nextOffset) }),
    }));
  },
});
