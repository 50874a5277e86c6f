// References in words, for pages that are drawn anew faster than an agent answers: `button "Approve" in "107"` is the
// button of that name beside that text, looked for when the call comes. It names one thing, or the call does nothing.
import { closest, connected, content, holder, line, textOf } from './dom.ts';
import { isShown, visible } from './drawn.ts';
import { Time } from './lines.ts';
import { atOnce } from './moment.ts';
import { described, type Gone } from './references.ts';
import { lines } from './tree.ts';
import { cut, unquote } from './words.ts';

const form = /^([a-z][a-z0-9]* "(?:[^"\\]|\\.)*")(?: in ("(?:[^"\\]|\\.)*"))?$/;
const lookMs = 3000;

// Where a text ends to say something of what stands outside of it.
const item =
  'tr,li,dt,dd,article,[role=row],[role=listitem],[role=option],[role=treeitem],[role=article],[role=menuitem]';

export const isInWords = (ref: string): boolean => form.test(ref);

/** The one thing that is described so; undefined where the words are no such reference. */
export function inWords(ref: string): Element | Gone | undefined {
  const [, said, beside] = form.exec(ref) ?? [];
  if (said === undefined) return undefined;
  const time = new Time(lookMs);
  lines(document, { everything: true, time });
  if (time.isOver)
    return { code: 'REF_GONE', message: 'The page is too large to look for a reference in words' };
  return atOnce(() => search(ref, said, beside));
}

function search(ref: string, said: string, beside: string | undefined): Element | Gone {
  const all = described().filter(({ element }) => connected(element) && visible(element));
  const named = all.filter((one) => one.said === said).map(({ element }) => element);
  if (beside === undefined) return only(named, ref, said);
  const others = all.filter((one) => one.said !== said).map(({ element }) => element);
  const texts = holding(document.documentElement, whole(line(unquote(beside))));
  const found = named.filter((thing) => {
    const around = place(thing, texts, others);
    return around !== undefined && !named.some((other) => other !== thing && within(other, around));
  });
  return only(found, ref, said);
}

function only(found: readonly Element[], ref: string, said: string): Element | Gone {
  const [first] = found;
  if (first !== undefined && found.length === 1) return first;
  const words = cut(ref, 200);
  if (first === undefined) return { code: 'REF_GONE', message: `Nothing in the page is ${words}` };
  return {
    code: 'UNKNOWN_REF',
    message: `${found.length} things are ${words}: say beside which text, as in ${cut(said, 100)} in "…"`,
  };
}

// The smallest element around a thing that holds one of the texts, but not as a part of something else.
function place(thing: Element, texts: readonly Element[], others: readonly Element[]): Element | undefined {
  const beside = texts.filter((text) => {
    const own = closest(text, item);
    return (
      (own === null || within(thing, own)) &&
      !within(text, thing) &&
      !others.some((other) => within(text, other) && !within(thing, other))
    );
  });
  for (let around = holder(thing); around !== undefined; around = holder(around))
    if (beside.some((text) => within(text, around))) return around;
  return undefined;
}

function within(inner: Element, outer: Element | undefined): boolean {
  for (let at: Element | undefined = inner; at !== undefined; at = holder(at)) if (at === outer) return true;
  return false;
}

// The displayed elements in whose own text the words stand.
function holding(element: Element, words: RegExp): Element[] {
  const inside = content(element);
  const inner = inside.flatMap((one) => (typeof one === 'string' ? [] : holding(one, words)));
  if (inner.length > 0 || !inside.some((one) => typeof one === 'string' && line(one) !== '')) return inner;
  return words.test(line(textOf(element))) && isShown(element) ? [element] : [];
}

// The words as such: "107" is not in "1070".
const whole = (words: string): RegExp =>
  new RegExp(
    `(?<![\\p{L}\\p{N}])${words.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')}(?![\\p{L}\\p{N}])`,
    'u',
  );
