// What style sheets put into elements: words before and behind what stands in one, or a picture in its place.
// https://www.w3.org/TR/css-content-3/
import { kindOf } from './alike.ts';
import { styleOf } from './drawn.ts';
import { isWordedByPlace } from './sheets.ts';

/** The words that style sheets put before and behind what stands in an element; blanks around those in a box. */
export function added(element: Element): readonly [before: string, after: string] {
  if (isWordedByPlace(element)) return asked(element);
  const kind = kindOf(element);
  kind.added ??= asked(element);
  return kind.added;
}

const asked = (element: Element) => [pseudo(element, '::before'), pseudo(element, '::after')] as const;

const worded = /[\p{L}\p{N}\p{Sc}%]/u;
const none = ['', ''] as const;

/** Those of them that are words, numbers or amounts: arrows, bullets and lines between others are drawing. */
export function wordsAround(element: Element): readonly [before: string, after: string] {
  const [before, after] = added(element);
  if (before === '' && after === '') return none;
  return [worded.test(before) ? before : '', worded.test(after) ? after : ''];
}

/** What a picture is called that a style sheet puts in the place of an element; undefined where there is none. */
export function replacing(element: Element): string | undefined {
  const kind = kindOf(element);
  if (kind.replacing === undefined) {
    const said = styleOf(element).content;
    kind.replacing =
      said === undefined || plain.has(said) || !picture.test(said) ? null : wordsOf(said, false);
  }
  return kind.replacing ?? undefined;
}

/** The same as people see it; undefined where no style sheet tells programs something else. */
export const drawnAround = (element: Element): readonly [before: string, after: string] | undefined =>
  hasAlternatives ? [pseudo(element, '::before', true), pseudo(element, '::after', true)] : undefined;

// Whether a style sheet of this document tells programs something else than what it draws.
let hasAlternatives = false;

const plain = new Set(['none', 'normal', '']);
const picture = /^(?:url|image-set|image|cross-fade|(?:repeating-)?(?:linear|radial|conic)-gradient)\(/;

function pseudo(element: Element, which: '::before' | '::after', drawn = false): string {
  const style = getComputedStyle(element, which);
  if (plain.has(style.content)) return '';
  const words = wordsOf(style.content, drawn);
  return words === '' || style.display === 'inline' ? words : ` ${words} `;
}

const parts = /"((?:[^"\\]|\\.)*)"|(open-quote)|(close-quote)|(\/)|[\w-]+\((?:"(?:[^"\\]|\\.)*"|[^"])*?\)/g;

// What programs are told of content, or what is drawn. Pictures in it have no words, and nobody but the browser knows
// how far its counters have counted.
function wordsOf(content: string, drawn: boolean): string {
  let [words, alternative] = ['', ''];
  let isSecond = false;
  for (const [, text, open, close, slash] of content.matchAll(parts)) {
    if (slash !== undefined) isSecond = true;
    const part = open ? '“' : close ? '”' : (text ?? '').replaceAll(/\\(.)/g, '$1');
    if (isSecond) alternative += part;
    else words += part;
  }
  hasAlternatives ||= isSecond;
  return isSecond && !drawn ? alternative : words;
}
