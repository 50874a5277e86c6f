// One article, which the reader shows only in lists.

import type { JsonReader } from '@tabrelay/plugin-sdk/json';
import { numberIn } from './api.ts';
import { articleWithId, noSuchArticle } from './articles.ts';
import { pageSize, view } from './view.ts';

const mostPages = 20;
const mostWords = 8;

/** Searches for the words of its title until it is among what is found. */
export async function findArticle(id: number, signal: AbortSignal): Promise<JsonReader> {
  const { title } = await articleWithId(id, signal);
  const query = titleQuery(title);
  for (let page = 0; page < mostPages; page++) {
    const asked = { place: {}, mode: 'all_articles', order: 'default', offset: page * pageSize };
    const rows = await view({ ...asked, query }, signal);
    const found = rows.find((row) => numberIn(row.at('id')) === id);
    if (found) return found;
    if (rows.length < pageSize) break;
  }
  throw noSuchArticle([id]);
}

/** Letters and digits only: everything else may mean something in a search. */
export const titleQuery = (title: string): string =>
  (title.match(/[\p{L}\p{M}\p{N}]+/gu) ?? [])
    .sort((a, b) => b.length - a.length)
    .slice(0, mostWords)
    .map((word) => `title:${word}`)
    .join(' ');
