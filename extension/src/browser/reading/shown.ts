// What a person sees of a page, open shadow roots included.

import { matches, shadow, tag } from './members.ts';
import { body } from './page.ts';
import { textOf } from './words.ts';

const unseen = new Set(['script', 'style', 'noscript', 'template', 'head', 'meta', 'link', 'title']);

/** Whether an element is displayed. One that is only scrolled out of sight is. */
export const shown = (element: Element): boolean =>
  !unseen.has(tag(element)) && Element.prototype.checkVisibility.call(element, { visibilityProperty: true });

/** All elements that match, in the order of the page; those in an open shadow root where its host stands. */
export function* find(selector: string, from: ParentNode = body()): Generator<Element> {
  const every = Array.from(from.querySelectorAll('*'));
  if (!every.some(shadow)) {
    yield* from.querySelectorAll(selector); // most pages have no shadow root, and some have very many elements
    return;
  }
  for (const element of every) {
    if (matches(element, selector)) yield element;
    const inside = shadow(element);
    if (inside !== undefined) yield* find(selector, inside);
  }
}

/** The same, without what is not displayed. */
export function* findShown(selector: string): Generator<Element> {
  for (const element of find(selector)) if (shown(element)) yield element;
}

/** The text of the page as it is displayed; what stands in shadow roots follows at the end. */
export function pageText(): string {
  const all = [textOf(body())];
  for (const host of find('*')) {
    for (const child of shadow(host)?.children ?? []) if (shown(child)) all.push(textOf(child));
  }
  return all
    .filter((part) => part.trim() !== '')
    .join('\n\n')
    .replaceAll(/[\u00a0\t ]+$/gm, '')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}
