// Of long lists what is on the screen is told, and how many more there are.
import { attribute, closest, holder, matches, tag } from './dom.ts';
import { clip, isScroller, overlaps, rendered } from './drawn.ts';
import { listLike } from './kinds.ts';
import { isPage } from './moment.ts';

const longList = 40; // items; of longer lists only what is on the screen is told
const leastItems = 12;
const mostAlike = 0.8; // of the items of what no role calls a list

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
  if (nodes.length <= longList || element === root) return undefined;
  if (!matches(element, listLike) && !isScrolledList(element, nodes)) return undefined;
  if (root !== undefined && (closest(element, listLike) === root || holder(element) === root))
    return undefined;
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

// Whether it is a list of boxes alike in a part of the page that scrolls, or all that stands in one.
function isScrolledList(element: Element, nodes: readonly (Element | string)[]): boolean {
  const around = holder(element);
  if (
    isPage(element) ||
    !(isScroller(element) || (around !== undefined && !isPage(around) && isScroller(around)))
  )
    return false;
  const items = nodes.filter((node) => typeof node !== 'string');
  const [first] = items;
  return first !== undefined && items.filter((one) => isLike(first, one)).length >= items.length * mostAlike;
}

const isLike = (one: Element, other: Element): boolean =>
  tag(one) === tag(other) && attribute(one, 'class') === attribute(other, 'class');
