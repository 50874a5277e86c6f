// The words of a line: quoted text of the page, and ours around it. Whatever stands in quotes is the page's; whatever
// does not is ours.
import { legible, line } from './dom.ts';

const odd = /["\\[\u2028\u2029\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]/u;
const refLike = /\[(?=\s*(?:f\d+)?e\d)/g;

const references = /(?<!\\)\[((?:f\d+)?e\d+)\]/g;

/** The references in a line. */
export const referencesIn = (said: string): string[] =>
  said.includes('[') ? Array.from(said.matchAll(references), ([, ref = '']) => ref) : [];

/** A line as it is told of any element that says the same. */
export const withoutReferences = (said: string): string => said.replaceAll(references, '[]');

const escaped = (text: string): string =>
  legible(text).replaceAll(/["\\]/g, '\\$&').replaceAll('\n', '\\n').replaceAll(refLike, '\\[');

/** A text of the page between quotes, in which it cannot imitate a line or a reference, nor hide anything. */
export const quote = (text: string): string => `"${odd.test(text) ? escaped(text) : text}"`;

/** Not longer than that, and never cut inside a character. */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const code = text.charCodeAt(most - 2);
  return `${text.slice(0, code >= 0xd800 && code < 0xdc00 ? most - 2 : most - 1)}…`;
}

/** Characters of a name. */
export const mostOfName = 160;

/** The name of a thing. */
export const named = (name: string): string => quote(cut(name, mostOfName));

const mostOfText = 600;

/** Text of the page on one line. */
export const sayText = (text: string, whole = false): string =>
  quote(whole ? line(text) : cut(line(text), mostOfText));

const mostOfValue = 400;

/** A value exactly as it is, outer blanks and line breaks included. */
export const exactly = (value: string, most = mostOfValue): string => quote(cut(legible(value), most));

const quotes = /"(?:[^"\\]|\\.)*"/g;
const valueBefore = / = $/;
const nextOfValues = /^(?: or |, )$/;

/** The words of the page in a line, without what fields hold. */
export function wordsOf(said: string): string[] {
  const words: string[] = [];
  let end = 0;
  let wasValue = false;
  for (const { 0: part, index } of said.matchAll(quotes)) {
    const between = said.slice(end, index);
    wasValue = valueBefore.test(between) || (wasValue && nextOfValues.test(between));
    if (!wasValue) words.push(unquote(part));
    end = index + part.length;
  }
  return words;
}

/** A line with each text of the page in it replaced. */
export const withWords = (said: string, replace: (words: string) => string): string =>
  said.replaceAll(quotes, (part) => quote(replace(unquote(part))));

/** The text of a quoted one. */
export const unquote = (quoted: string): string =>
  quoted.slice(1, -1).replaceAll(/\\(.)/g, (_, character) => (character === 'n' ? '\n' : character));

/** Whether a line has some words, also where it escapes them. */
export const says = (said: string, lowerCase: string): boolean =>
  said.toLowerCase().includes(lowerCase) ||
  (said.includes('\\') &&
    said
      .toLowerCase()
      .replaceAll(/\\(["\\[])/g, '$1')
      .includes(lowerCase));

/** The letters and digits of a text, by which words are the same however they are written. */
export const letters = (text: string): string => text.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '');

/** Whether a line has the words of another one already; a single letter is a sign, such as the x that closes. */
export function saysAlready(said: string, other: string): boolean {
  if (said.includes(other)) return true; // as it mostly is
  const own = wordsOf(other).join(' ');
  const words = letters(own);
  const all = letters(Array.from(said.matchAll(quotes), ([part]) => part).join(' '));
  if (words === '' || /^\p{L}$/u.test(words) || all.includes(words)) return true;
  return all.includes(letters(Array.from(new Set(own.split(' '))).join(''))); // drawn twice
}

/** A line without how much more there is while the pointer is over that. */
export const withoutMore = (said: string): string => said.replace(/ \(\d+ more on hover\)$/, '');
