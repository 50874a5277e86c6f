// Of long lists what is on the screen is told, and how many more there are.
import { closest, matches } from './dom.ts';
import { clip, overlaps, rendered } from './drawn.ts';
import { listLike } from './kinds.ts';

const longList = 40; // items; of longer lists only what is on the screen is told
const leastItems = 12;

/** The items of a long list that are told, and how many are not. */
export interface Told {
  items: ReadonlySet<Element>;
  others: number;
}

/** Of a long list the items on the screen, and at least the first ones; undefined for all. */
export function onScreen(
  element: Element,
  nodes: readonly (Element | string)[],
  root: Element | undefined,
): Told | undefined {
  if (nodes.length <= longList || element === root || !matches(element, listLike)) return undefined;
  if (root !== undefined && closest(element, listLike) === root) return undefined;
  const all: Element[] = [];
  for (const node of nodes) if (typeof node !== 'string' && rendered(node)) all.push(node);
  if (all.length <= longList) return undefined;
  const frame = clip(element);
  const items = new Set(all.filter((item) => overlaps(item, frame)));
  for (const item of all) {
    if (items.size >= leastItems) break;
    items.add(item);
  }
  return items.size === all.length ? undefined : { items, others: all.length - items.size };
}
