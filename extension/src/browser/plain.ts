// What a search finds besides the things that can be acted on: plain words, which can be dragged, hovered and selected,
// and things that are displayed only while the pointer is over something else.
import { shownOnHover } from './act/hovering.ts';
import { holder, line, within } from './dom.ts';
import { visible } from './drawn.ts';
import type { Line } from './lines.ts';
import { contentName, nameOf } from './names.ts';
import { reference, remember } from './references.ts';
import { roleWord, thingOf } from './things.ts';
import { cut, named, quote, says } from './words.ts';

/** Whether a line has a thing that can be acted on. */
export const hasReference = / \[(?:f\d+)?e\d+\]/;

/** A line, with a reference of what it tells where it has none. */
export function withReference({ text, element, ref }: Line): string {
  if (ref !== undefined || hasReference.test(text)) return text;
  const own = reference(element);
  const said = saidWith(text, own);
  remember(own, said);
  return said;
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
