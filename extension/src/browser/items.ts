// Items of long lists whose elements the page uses again: what stood in one when somebody was told of it, so that
// nothing is done in it once it shows another row.
import { attribute, connected, holder, tag, textOf } from './dom.ts';
import { cut, named } from './words.ts';

interface Shown {
  place: string;
  words: string;
}

const told = new WeakMap<Element, Shown>();
const answered = new Map<Element, Shown>(); // in the answer to the call that goes on
const nearby = 6; // elements around a thing
const mostWords = 400; // characters: what holds more is no row
const fewest = 3; // alike

const counted = [
  'aria-rowindex',
  'aria-posinset',
  'row-index',
  'data-index',
  'data-item-index',
  'data-row-index',
];
const keys = ['row-id', 'data-id', 'data-key', 'data-row-key', 'data-item-id'];
const moving = /\b(?:transform|translate|top|inset[a-z-]*|left)\s*:[^;]*/g;

// Which row an element is used for, in what lists of rows write on their rows; '' where it is none of theirs.
function placeOf(element: Element): string {
  const said = [...counted, ...keys].map((name) => attribute(element, name) ?? '').join(' ');
  const style = attribute(element, 'style')?.match(moving)?.join(';') ?? '';
  return `${said}${style}`.trim();
}

// The item of a list in which an element stands, or that it is.
function itemOf(element: Element): Element | undefined {
  let at: Element | undefined = element;
  for (let n = 0; n < nearby && at !== undefined; n++, at = holder(at))
    if (placeOf(at) !== '' && hasOthersLikeIt(at)) return at;
  return undefined;
}

function hasOthersLikeIt(element: Element): boolean {
  const siblings = holder(element)?.children ?? [];
  let alike = 0;
  for (const one of siblings) if (tag(one) === tag(element) && ++alike >= fewest) return true;
  return false;
}

const wordsOf = (item: Element): string => textOf(item).replaceAll(/\s+/g, ' ').trim();

/** Somebody is told what stands in these elements, and knows it in the next call. */
export function toldOf(elements: readonly Element[]): void {
  for (const element of elements) {
    const item = itemOf(element);
    const words = item === undefined ? '' : wordsOf(item);
    if (item !== undefined && words.length <= mostWords) answered.set(item, { place: placeOf(item), words });
  }
}

/** A call begins: its references were chosen by what was answered before. */
export function callBegins(): void {
  for (const [item, shown] of answered) told.set(item, shown);
  answered.clear();
}

/** What the row of an element showed when it was told, and shows now, where the page uses it for another row since. */
export function usedAgain(element: Element): { was: string; is: string } | undefined {
  if (!connected(element)) return undefined;
  const item = itemOf(element);
  const before = item && told.get(item);
  if (item === undefined || before === undefined || before.place === placeOf(item)) return undefined;
  const words = wordsOf(item);
  return words === before.words
    ? undefined
    : { was: named(cut(before.words, 80)), is: named(cut(words, 80)) };
}
