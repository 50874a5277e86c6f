// Articles as lists show them, and whether they are there at all.

import { htmlToText, parseHTML, plainText } from '@tabrelay/plugin-sdk/html';
import { isObject, type JsonReader } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { ask, numberIn } from './api.ts';
import { missing } from './failures.ts';

/** What is known about all articles of a list because only those were asked for. */
export type Only = 'all' | 'unread' | 'starred' | 'published' | 'with_note';

/** Whether an article is unread, starred and published. */
const states = { unread: 'unread', starred: 'marked', published: 'published' } as const;

/**
 * The states of articles. With MySQL on PHP 8.1 and later the reader says of all that they are in none, which shows in
 * that other truths are numbers: then only what was asked for is known.
 */
export function statesOf(rows: readonly JsonReader[], only: Only) {
  const fields = Object.values(states);
  const told = rows.some(
    (row) =>
      typeof row.at('hide_images').value !== 'number' ||
      fields.some((field) => row.at(field).value === true),
  );
  return (row: JsonReader) => ({
    unread: told ? row.boolean('unread') : only === 'unread' || undefined,
    starred: told ? row.boolean('marked') : only === 'starred' || undefined,
    published: told ? row.boolean('published') : only === 'published' || undefined,
  });
}

/** JSON Schema of [statesOf]. */
export const stateOutput = {
  unread: s.optional(s.boolean('The states are left out where the reader does not tell them.')),
  starred: s.optional(s.boolean()),
  published: s.optional(s.boolean()),
};

const excerptChars = 160;

export function summary(row: JsonReader) {
  const text = plainText(row.string('content'));
  return {
    id: numberIn(row.at('id')),
    title: plainText(row.string('title')),
    feedId: numberIn(row.at('feed_id')),
    feed: row.maybe('feed_title')?.string() || undefined,
    date: row.string('updated'),
    excerpt: text.length > excerptChars ? `${[...text].slice(0, excerptChars).join('')}…` : text,
  };
}

/** JSON Schema of [summary]. */
export const summaryOutput = {
  id: s.integer(),
  title: s.string(),
  feedId: s.integer('0: archived, its feed is gone.'),
  feed: s.optional(s.string()),
  date: s.string('As the reader shows it to the person.'),
  excerpt: s.string(),
};

/** The text of an article, with the addresses of links on request. */
export const textOf = (row: JsonReader, links: boolean): string =>
  htmlToText(
    row.string('content'),
    links ? { address: (href) => (/^https?:/.test(href) ? href : '') } : {},
  );

export const labelsOf = (row: JsonReader): string[] =>
  [...parseHTML(row.string('labels')).querySelectorAll('.label')].map((one) => text(one));

export const noteOf = (row: JsonReader): string => {
  const note = parseHTML(row.string('note')).querySelector('.article-note .body');
  return note === null ? '' : text(note);
};

/** The addresses of files that came with an article: sound, video and pictures. */
export function attachmentsOf(row: JsonReader): string[] {
  const opened = [...parseHTML(row.string('enclosures')).querySelectorAll('[onclick]')].map(
    (one) => /popupOpenUrl\((['"])(.*)\1\)/.exec(one.getAttribute('onclick') ?? '')?.[2],
  );
  return opened.filter((one) => one !== undefined);
}

const text = (element: Element): string => (element.textContent ?? '').trim();

/** Title and address of an article; fails with NOT_FOUND. */
export async function articleWithId(id: number, signal: AbortSignal) {
  const answer = await ask('RPC.getlinktitlebyid', { id }, signal);
  if (isObject(answer.value) && answer.value.error === 'ARTICLE_NOT_FOUND')
    throw noSuchArticle([id]);
  return { title: answer.string('title'), link: answer.string('link') };
}

/** Fails with NOT_FOUND when one is missing: the reader itself says "done" about articles that do not exist. */
export async function articlesMustExist(
  ids: readonly number[],
  signal: AbortSignal,
): Promise<void> {
  for (const id of ids) await articleWithId(id, signal);
}

export const noSuchArticle = (ids: readonly number[]) =>
  missing(`There is no article ${ids.join(', ')}. list_news lists the existing ones.`);
