// Lists that the wiki shows a few entries of at a time, as many as its administrator chose.

import { open, partOf, textOf } from './api.ts';
import { invalid } from './failures.ts';
import { changeOf, idIn, nameOf, type Revision, revisionsFrom } from './pages.ts';

interface Part<Item> {
  items: Item[];
  /** There are none after these. */
  isLast: boolean;
}

/** Asks for parts of a list until there are `limit` entries from `offset` on, or no more. */
export async function gather<Item>(
  limit: number,
  offset: number,
  ask: (first: number) => Promise<Part<Item>>,
): Promise<Part<Item>> {
  const items: Item[] = [];
  for (;;) {
    const part = await ask(offset + items.length);
    items.push(...part.items);
    if (items.length > limit) return { items: items.slice(0, limit), isLast: false };
    if (part.isLast || part.items.length === 0) return { items, isLast: true };
    if (items.length === limit) return { items, isLast: false };
  }
}

/** Where a part of a history ended: how many entries came before, and the last one. */
const cursor = /^(\d+)-(\d+)$/;

/**
 * A part of a page's history. Where the wiki begins when it is asked for later entries differs between its releases,
 * and moves with each save: it is asked from a little before, and what was there already is left out.
 */
export async function history(
  name: string,
  { limit, olderThan }: { limit: number; olderThan: string | undefined },
  signal: AbortSignal,
) {
  const [said, number = '0', oldest = '0'] = cursor.exec(olderThan ?? '') ?? [];
  if (olderThan !== undefined && said === undefined)
    throw invalid('olderThan is not a `next` of page_history.');
  const skipped = Number(number);
  let before = said === undefined ? Number.POSITIVE_INFINITY : Number(oldest);
  let id = nameOf(name);
  const items: Revision[] = [];
  for (;;) {
    const first = Math.max(skipped + items.length - 1, 0);
    const answer = await revisionsFrom(id, first, signal);
    const fresh = answer.revisions.filter(({ revision }) => revision < before);
    id = answer.id;
    items.push(...fresh);
    before = items.at(-1)?.revision ?? before;
    const isLast = fresh.length === 0 || answer.isLast;
    if (!isLast && items.length < limit) continue;
    const kept = items.slice(0, limit);
    const next = (count: number): { next?: string } => {
      const last = kept[count - 1];
      const isAll = isLast && count === items.length;
      return last === undefined || isAll ? {} : { next: `${skipped + count}-${last.revision}` };
    };
    return { id, items: kept, next };
  }
}

interface Asked {
  kind: 'pages' | 'mediafiles' | 'both';
  namespace: string;
  first: number;
}

export async function recent({ kind, namespace, first }: Asked, signal: AbortSignal) {
  // The wiki lists the changes of the namespace that the page is in, whether there is such a page or not.
  const inside = namespace.replaceAll(/^[\s:]+|[\s:]+$/g, '');
  const id = inside === '' ? undefined : `${inside}:changes`;
  const { page } = await open({ do: 'recent', show_changes: kind, first, id }, signal);
  return {
    items: [...partOf(page, '#dw__recent').querySelectorAll('li')].map(recentOf),
    isLast: page.querySelector('#dw__recent .pagenav-next') === null,
  };
}

function recentOf(entry: Element) {
  const link = entry.querySelector('a.wikilink1, a.wikilink2');
  const href = link?.getAttribute('href') ?? '';
  const kind: 'page' | 'file' = /[?&](image|media)=/.test(href) ? 'file' : 'page';
  const date = textOf(entry.querySelector('.date'));
  const gone = link?.classList.contains('wikilink2') === true;
  return { id: idIn(href), kind, date, gone, ...changeOf(entry) };
}
