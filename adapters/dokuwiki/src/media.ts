// Files of the wiki, as its media manager lists and shows them.

import { fetchFromPage, ToolError } from '@tabrelay/plugin-sdk';
import { parseHTML } from '@tabrelay/plugin-sdk/html';
import * as s from '@tabrelay/plugin-sdk/schema';
import { ajax, open, partOf, textOf } from './api.ts';
import { denied, missing } from './failures.ts';
import { idIn, idOf, nameOf } from './pages.ts';
import { currentWiki } from './wiki.ts';

/** JSON Schema of the name of a file that exists. */
export const fileInput = s.string(
  'As list_media answers it, with its namespace: "animals:fox.png".',
  {
    minLength: 1,
  },
);

/** Where the file itself is. */
export function urlOf(id: string): string {
  const url = new URL('lib/exe/fetch.php', currentWiki());
  url.searchParams.set('media', id);
  return url.href;
}

interface Asked {
  namespace: string;
  /** Part of the name; then files of the namespaces below are listed too. */
  query: string | undefined;
}

export async function filesIn({ namespace, query }: Asked, signal: AbortSignal) {
  const search = query === undefined ? {} : { tab_files: 'search', q: query };
  const html = await ajax('medialist', { do: 'media', ns: namespace, ...search }, signal);
  const page = parseHTML(html);
  return {
    files: [...partOf(page, '.panelContent').querySelectorAll('dl')].flatMap(fileOf),
    // Namespaces below have a list of their own.
    namespaces: query === undefined ? await namespacesIn(namespace, signal) : [],
  };
}

function fileOf(tile: Element) {
  const link = tile.querySelector('dd.name a');
  if (!link) return [];
  const of = (name: string) => textOf(tile.querySelector(`dd.${name}`));
  const pixels = /^(\d+)\D+(\d+)$/.exec(of('size'));
  return [
    {
      id: idIn(link.getAttribute('href') ?? ''),
      size: of('filesize'),
      date: of('date'),
      ...(pixels ? { pixels: `${pixels[1]}x${pixels[2]}` } : {}),
    },
  ];
}

async function namespacesIn(namespace: string, signal: AbortSignal): Promise<string[]> {
  const html = await ajax('medians', { ns: namespace }, signal);
  if (html.trim() === '') return [];
  const page = parseHTML(html);
  partOf(page, 'a.idx_dir');
  return [...page.querySelectorAll('a.idx_dir')].map((link) => {
    const address = new URL(link.getAttribute('href') ?? '', currentWiki());
    return address.searchParams.get('ns') ?? address.searchParams.get('idx') ?? '';
  });
}

/** What comes before the file itself; undefined when there is none. */
export async function headersOf(id: string, signal: AbortSignal): Promise<Headers | undefined> {
  try {
    return (await fetchFromPage(urlOf(id), { method: 'HEAD', signal })).headers;
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    if (error.category === 'not_found') return undefined;
    if (error.category !== 'auth') throw error;
    // The status says no more than that; the page to sign in on comes only where somebody can.
    await open({ do: 'login' }, signal, ['show']);
    throw denied(true);
  }
}

/** The headers of a file that the person may see. */
export async function mustBeFile(id: string, signal: AbortSignal): Promise<Headers> {
  const headers = await headersOf(id, signal);
  if (headers) return headers;
  throw missing(`There is no file "${id}". list_media lists them.`);
}

/** What the media manager tells about a file that there is. */
export async function detailsOf(id: string, signal: AbortSignal) {
  const html = await ajax('mediadetails', { image: id, tab_details: 'view', do: 'media' }, signal);
  const page = parseHTML(html);
  const lists = [...page.querySelectorAll('dl')];
  const uses = lists.pop() ?? partOf(page, 'dl'); // the last one lists the pages, in all languages
  const properties: Record<string, string> = {};
  for (const name of lists.flatMap((list) => [...list.querySelectorAll('dt')])) {
    const key = textOf(name).replace(/:$/, '');
    if (key !== '') properties[key] = textOf(name.nextElementSibling);
  }
  return { properties, usedIn: [...uses.querySelectorAll('dd a.wikilink1')].map(idOf) };
}

/** The name of a file as the wiki writes it in addresses. */
export const fileNameOf = (id: string): string => nameOf(id).replace(/^:/, '');
