// What a search finds besides the things that can be acted on: plain words, which can be dragged, hovered and selected,
// and things that are displayed only while the pointer is over something else.
import { shownOnHover } from './act/hovering.ts';
import { content, holder, line, within } from './dom.ts';
import { visible } from './drawn.ts';
import type { Line, Part } from './lines.ts';
import { contentName, nameOf } from './names.ts';
import { reference, remember } from './references.ts';
import { roleWord, thingOf } from './things.ts';
import { cut, named, quote, says, unquote, withoutMore } from './words.ts';

/** Whether a line has a thing that can be acted on. */
export const hasReference = / \[(?:f\d+)?e\d+\]/;

/** A line, with a reference of what it tells where it has none; of a text in several elements, those of the words. */
export function withReference(one: Line, wanted: string): string[] {
  const { text, element, ref, parts = [] } = one;
  if (ref !== undefined || hasReference.test(text)) return [text];
  const having = parts.length > 1 ? partsWith(text, parts, wanted) : [];
  if (having.length > 0) return having.slice(0, mostParts).map((part) => sayPart(part, text));
  return [withOwn(text, element)];
}

function withOwn(text: string, element: Element): string {
  const own = reference(element);
  const said = saidWith(text, own);
  remember(own, said);
  return said;
}

const mostAround = 100; // characters of a text that are told with a part of it
const mostParts = 5;

// The parts in which some words stand, as they follow each other in the text.
function partsWith(text: string, parts: readonly Part[], wanted: string): Part[] {
  const [quoted = ''] = /"(?:[^"\\]|\\.)*"$/.exec(withoutMore(text)) ?? [];
  const at = unquote(quoted).toLowerCase().indexOf(wanted);
  if (at < 0) return [];
  const endOf = (i: number) => parts[i + 1]?.from ?? Number.POSITIVE_INFINITY;
  const inside = parts.filter(({ from }, i) => from < at + wanted.length && endOf(i) > at);
  return inside.filter((part, i) => inside.findIndex(({ element }) => element === part.element) === i);
}

function sayPart({ element }: Part, text: string): string {
  const own = reference(element);
  const texts = content(element).filter((one) => typeof one === 'string');
  const said = `text [${own}]: ${quote(cut(line(texts.join(' ')) || words(element), mostAround))}`;
  remember(own, said);
  return text.length > 2 * mostAround ? said : `${said} in ${text}`;
}

function saidWith(text: string, ref: string): string {
  if (text.startsWith('row: ')) return text.replace('row', `row [${ref}]`);
  return text.startsWith('"') ? `text [${ref}]: ${text}` : `${text} [${ref}]`;
}

const most = 5;
const operable = 'a[href], button, [role=button], [role=menuitem], [role=link], input[type=checkbox]';

/** Things with some words that are displayed only while the pointer is over what they stand in. */
export function waiting(wanted: string): string[] {
  const all = within(document.documentElement, operable).filter(
    (one) => says(words(one).toLowerCase(), wanted) && !visible(one) && shownOnHover(one),
  );
  return all.slice(0, most).flatMap((one) => {
    const around = displayedAround(one);
    if (around === undefined) return [];
    const said = line(around instanceof HTMLElement ? around.innerText : '');
    const thing = `${roleWord(thingOf(one, '', ''))} ${named(words(one))}`;
    return [`${thing} on hover over text [${reference(around)}]: ${quote(cut(said, 80))}`];
  });
}

const words = (element: Element): string => nameOf(element) || contentName(element);

function displayedAround(element: Element): Element | undefined {
  let at = holder(element);
  while (at !== undefined && !visible(at)) at = holder(at);
  return at === document.body || at === document.documentElement ? undefined : at;
}
