import { defineTool } from '@tabrelay/plugin-sdk';
import { asNumber, asText, objectAt, objectsIn } from '@tabrelay/plugin-sdk/json';
import { get } from '../api.ts';
import { plain } from '../markup.ts';

export const search = defineTool({
  name: 'search',
  displayName: 'Search pages',
  description:
    'Full-text search of the wiki that is open. Answers titles with a snippet; read one with read_page or read_rendered.',
  annotations: { readOnlyHint: true },
  input: {
    type: 'object',
    properties: {
      query: {
        type: 'string',
        minLength: 1,
        description: 'Words to find. The search syntax of the wiki works too.',
      },
      limit: { type: 'integer', minimum: 1, maximum: 50, default: 10, description: 'How many results.' },
      offset: {
        type: 'integer',
        minimum: 0,
        default: 0,
        description: 'From nextOffset of the answer before.',
      },
    },
    required: ['query'],
    additionalProperties: false,
  },
  output: {
    type: 'object',
    properties: {
      total: { type: 'integer' },
      results: {
        type: 'array',
        items: {
          type: 'object',
          properties: {
            title: { type: 'string' },
            snippet: { type: 'string' },
            words: { type: 'integer' },
            timestamp: { type: 'string', description: 'Of the last change.' },
          },
          required: ['title', 'snippet', 'words', 'timestamp'],
        },
      },
      nextOffset: { type: 'integer', description: 'Present when there are more results.' },
    },
    required: ['total', 'results'],
  },
  async handle({ query, limit, offset }, { signal }) {
    const params = { action: 'query', list: 'search', srsearch: query, srlimit: limit, sroffset: offset };
    let answer = await get({ ...params, srwhat: 'text' }, signal);
    // A wiki that searches in its own database keeps titles apart; what it searches by default is them.
    if (objectsIn(objectAt(answer, 'query').search).length === 0) answer = await get(params, signal);
    const found = objectAt(answer, 'query');
    const results = objectsIn(found.search).map((hit) => ({
      title: asText(hit.title),
      snippet: plain(asText(hit.snippet)),
      words: asNumber(hit.wordcount),
      timestamp: asText(hit.timestamp),
    }));
    const next = objectAt(answer, 'continue').sroffset;
    return {
      total: asNumber(objectAt(found, 'searchinfo').totalhits),
      results,
      ...(typeof next === 'number' ? { nextOffset: next } : {}),
    };
  },
});
