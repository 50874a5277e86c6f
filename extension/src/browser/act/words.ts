// Words of a page as a place: the part of an element in which they stand, and where on the screen that is.
import { content, holder } from '../dom.ts';
import { visible } from '../drawn.ts';
import { cut, named } from '../words.ts';
import { documentFor, isElement, plain } from './dom.ts';
import { NotDone } from './failure.ts';
import type { Page } from './page.ts';

interface Place {
  node: Text;
  offset: number;
}

const blank = /\s/;

// The texts in an element that are displayed, as they follow each other.
function* textsIn(element: Element): Generator<Text> {
  if (content(element).every((one) => typeof one === 'string')) {
    for (const node of element.childNodes) if (node instanceof Text) yield node;
    return;
  }
  const root = content(element).find(isElement)?.parentNode ?? element;
  for (const node of root.childNodes)
    if (node instanceof Text) yield node;
    else if (isElement(node) && visible(node)) yield* textsIn(node);
}

// Where some words begin and end in an element, whatever the blanks between them: as written, or in any case.
function placeOf(element: Element, words: string): [from: Place, to: Place] | undefined {
  let text = '';
  const places: Place[] = [];
  for (const node of textsIn(element))
    for (let offset = 0; offset < node.data.length; offset++) {
      const character = node.data[offset] ?? '';
      if (blank.test(character) && (text === '' || text.endsWith(' '))) continue;
      text += blank.test(character) ? ' ' : character;
      places.push({ node, offset });
    }
  const wanted = plain(words);
  const exact = text.indexOf(wanted);
  const at = exact >= 0 ? exact : text.toLowerCase().indexOf(wanted.toLowerCase());
  const [from, to] = [places[at], places[at + wanted.length - 1]];
  return wanted === '' || from === undefined || to === undefined ? undefined : [from, to];
}

/** The innermost part of an element in which some words stand, for who is to act on these and nothing else. */
export function partWith(page: Page, element: Element, words: string): Element {
  const place = placeOf(element, words);
  if (place === undefined)
    throw new NotDone(
      'VALIDATION_ERROR',
      `${page.describe(element)} does not show ${named(cut(words, 80))}`,
      {
        hint: 'Pass in at words that stand in it, as a snapshot tells them',
      },
    );
  const [from, to] = place;
  let part = holder(from.node) ?? element;
  while (part !== element && !holds(part, to.node)) part = holder(part) ?? element;
  return part;
}

function holds(element: Element, node: Text): boolean {
  for (let at = holder(node); at !== undefined; at = holder(at)) if (at === element) return true;
  return false;
}

/** The boxes in which some words of an element are drawn. */
export function boxesOfWords(element: Element, words: string): DOMRect[] {
  const place = placeOf(element, words);
  if (place === undefined) return [];
  const [from, to] = place;
  const range = documentFor(element).createRange();
  range.setStart(from.node, from.offset);
  range.setEnd(to.node, to.offset + 1);
  return Array.from(range.getClientRects()).filter(({ width, height }) => width > 0 && height > 0);
}
