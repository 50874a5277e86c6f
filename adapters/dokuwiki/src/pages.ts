// Pages of the wiki and their revisions, which are named by the second in which they were saved.

import { invalidResponse } from '@tabrelay/plugin-sdk/json';
import * as s from '@tabrelay/plugin-sdk/schema';
import { open, partOf, raw, textOf } from './api.ts';
import { invalid, noSuchPage, noSuchRevision, switchedOff } from './failures.ts';
import { currentWiki } from './wiki.ts';

/** JSON Schema of the name of a page that exists. */
export const idInput = s.string('As search answers it, with its namespace: "animals:fox".', {
  minLength: 1,
});

/** JSON Schema of what a change was made from. */
export const baseInput = s.integer(
  'The newest revision, as read_page or page_history answered it.',
  {
    minimum: 1,
  },
);

export const summaryInput = s.string('Shown in the history.', { maxLength: 250, default: '' });

/** A name without letters or digits would be that of the start page. */
export function nameOf(id: string): string {
  if (!/[\p{L}\p{N}]/u.test(id)) throw invalid(`"${id}" is not the name of a page or file.`);
  return id.trim();
}

/** One entry of a history, or of the recent changes. */
export const changeOf = (entry: Element) => ({
  user: textOf(entry.querySelector('.user')),
  summary: textOf(entry.querySelector('.sum')).replace(/^–\s*/, ''),
  sizeChange: textOf(entry.querySelector('.sizechange')),
  minor: entry.classList.contains('minor'),
});

/** JSON Schema of [changeOf]. */
export const changeProperties = {
  user: s.string('The address of the computer, for those without an account.'),
  summary: s.string(),
  sizeChange: s.string(),
  minor: s.boolean(),
};

export interface Revision extends ReturnType<typeof changeOf> {
  revision: number;
  timestamp: string;
  /** The page was deleted by this change, or what it was is not kept. */
  gone: boolean;
}

/** A part of a page's history, newest first: as much as the wiki shows at once. Empty for what never was a page. */
export async function revisionsFrom(name: string, first: number, signal: AbortSignal) {
  const { id, page } = await open({ do: 'revisions', id: nameOf(name), first }, signal);
  const revisions = [...partOf(page, '#page__revisions').querySelectorAll('li')].map(revisionOf);
  return { id, revisions, isLast: page.querySelector('.pagenav-next') === null };
}

function revisionOf(entry: Element): Revision {
  const box = entry.querySelector('input[type="checkbox"]');
  const revision = Number(box?.getAttribute('value'));
  // Until 2022 the newest revision had no number here.
  if (!Number.isInteger(revision) || revision < 1)
    throw invalidResponse('its history has no numbers of revisions');
  const gone =
    box?.hasAttribute('disabled') === true || entry.querySelector('a.wikilink2') !== null;
  return { revision, timestamp: new Date(revision * 1000).toISOString(), gone, ...changeOf(entry) };
}

/** The newest revision; undefined when there never was such a page. That of a deleted page is `gone`. */
export async function newestRevision(name: string, signal: AbortSignal) {
  const { id, revisions } = await revisionsFrom(name, 0, signal);
  return { id, newest: revisions[0] };
}

/** The newest revision of a page that exists. */
export async function existing(
  name: string,
  signal: AbortSignal,
): Promise<{ id: string; newest: Revision }> {
  const { id, newest } = await newestRevision(name, signal);
  if (newest === undefined || newest.gone) throw noSuchPage(id);
  return { id, newest };
}

/** The source of a page that exists, or of an old revision of any. */
export async function source(
  id: string,
  revision: number | undefined,
  signal: AbortSignal,
): Promise<string> {
  const text = await raw({ id, rev: revision }, signal);
  if (text !== undefined) return text;
  throw revision === undefined ? switchedOff('export_raw', '') : noSuchRevision(id, revision);
}

/** The name in an address of the wiki, in any of the forms an administrator can choose. */
export function idIn(href: string): string {
  const wiki = currentWiki();
  const address = new URL(href, wiki);
  for (const name of ['image', 'media', 'id']) {
    const named = address.searchParams.get(name);
    if (named) return named.replace(/^:/, '');
  }
  const path = address.pathname
    .slice(wiki.pathname.length)
    .replace(/^(doku\.php|_media|_detail)\//, '');
  return decodeURIComponent(path).replaceAll('/', ':');
}

/** The page that a link of the wiki's own lists leads to. */
export const idOf = (link: Element): string =>
  link.getAttribute('data-wiki-id') ?? idIn(link.getAttribute('href') ?? '');
