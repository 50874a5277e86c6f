// The document a tool reads, and the texts it is told in.

import { ToolError } from '@tabrelay/plugin-sdk';
import { member } from './members.ts';

const own = (name: string): unknown => member(Document.prototype, name, document);

export function root(): Element {
  const found = own('documentElement');
  if (found instanceof Element) return found;
  throw new ToolError('The tab shows an empty document.', 'EMPTY_PAGE', { category: 'not_found' });
}

/** What there is to see: the body, or all of a document that has none (SVG, XML). */
export function body(): Element {
  const found = own('body');
  return found instanceof HTMLElement ? found : root();
}

/** A document without a window: what is put there loads nothing and runs nothing. */
export function inertDocument(): Document {
  const implementation = own('implementation');
  if (implementation instanceof DOMImplementation) return implementation.createHTMLDocument();
  throw ToolError.internal('This browser makes no documents');
}

export function activeElement(): Element | undefined {
  const found = own('activeElement');
  return found instanceof Element ? found : undefined;
}

const maxUrl = 2000;

/** Which page it is; every answer begins with it. */
export function here(): { url: string; title: string } {
  return {
    url: cut(visible(location.href), maxUrl),
    title: cut(visible(line(String(own('title') ?? ''))), 300),
  };
}

const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * A text without what nobody sees: control characters, those that turn the direction of text, halves of pairs. Joiners
 * and selectors stay behind characters beyond Latin, where they shape words and emoji.
 */
function visible(text: string): string {
  return text.replaceAll(unseen, (character, at: number) => {
    const before = Array.from(text.slice(Math.max(0, at - 2), at)).at(-1) ?? '';
    const shapes =
      '\u200c\u200d\ufe0e\ufe0f'.includes(character) && before > '\xff' && before.search(unseen) < 0;
    return shapes ? character : '';
  });
}

/** On one line, blanks collapsed. */
export const line = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** Not longer than that; an ellipsis says that something is missing. Never cut inside a character. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  return `${text.slice(0, wholeTo(text, most - 1))}…`;
}

/** An index at or before `at` that is not inside a surrogate pair. */
function wholeTo(text: string, at: number): number {
  const before = text.charCodeAt(at - 1);
  return at < text.length && before >= 0xd800 && before < 0xdc00 ? at - 1 : at;
}

/** An address as a link leads to; empty for one that leads nowhere or is a script. */
export function address(href: string): string {
  if (!URL.canParse(href, document.baseURI)) return '';
  const { protocol, href: whole } = new URL(href, document.baseURI);
  if (protocol === 'javascript:') return '';
  return cut(whole, protocol === 'data:' ? 100 : maxUrl);
}
