// References in words, for pages that are drawn anew faster than an agent answers, and for what is not there yet:
// `button "Approve" in "107"` is the button of that name beside that text, `checkbox in "107"` the only checkbox there,
// and `"Approve"` whatever has that name, looked for when the call comes. It names one thing, or the call does nothing.
import { isSameName } from './alterations.ts';
import { closest, connected, content, holder, line, textOf } from './dom.ts';
import { isShown, visible } from './drawn.ts';
import { type Line, Time } from './lines.ts';
import { atOnce } from './moment.ts';
import { described, type Gone, reference } from './references.ts';
import { operable } from './roles.ts';
import { lines } from './tree.ts';
import { cut, referencesIn, unquote, withoutMore } from './words.ts';

const quoted = String.raw`"(?:[^"\\]|\\.)*"`;
const form = new RegExp(`^(?:([a-z][a-z0-9]*) )?(${quoted})(?: in (${quoted}))?$`);
const roleForm = new RegExp(`^([a-z]+) in (${quoted})$`);
// How a thing was described: its role and name, or a text with its reference.
const description = new RegExp(String.raw`^([a-z][a-z0-9]*)(?:(?: \[[^\]]*\]:)? (${quoted}))?`);
const lookMs = 3000;
const mostSaid = 60; // characters of each thing that a failure names

// Where a text ends to say something of what stands outside of it.
const item =
  'tr,li,dt,dd,article,[role=row],[role=listitem],[role=option],[role=treeitem],[role=article],[role=menuitem]';

interface Named {
  element: Element;
  role: string;
  name: string; // between quotation marks
}

interface Words {
  ref: string; // all of them
  role: string | undefined;
  name: string | undefined; // without one, there are the two others
  beside: string | undefined;
}

function read(ref: string): Words | undefined {
  const [, role, name, beside] = form.exec(ref) ?? [];
  if (name !== undefined) return { ref, role, name, beside };
  const [, only = '', near] = roleForm.exec(ref) ?? [];
  return operable.has(only) || only === 'clickable'
    ? { ref, role: only, name: undefined, beside: near }
    : undefined;
}

export const isInWords = (ref: string): boolean => read(ref) !== undefined;

/** The one thing that is described so; undefined where the words are no such reference. */
export function inWords(ref: string): Element | Gone | undefined {
  const words = read(ref);
  if (words === undefined) return undefined;
  const time = new Time(lookMs);
  const told = lines(document, { everything: true, time });
  if (time.isOver)
    return { code: 'REF_GONE', message: 'The page is too large to look for a reference in words' };
  return atOnce(() => search(words, told));
}

function search(words: Words, told: readonly Line[]): Element | Gone {
  const all = things(new Set(told.flatMap(({ text }) => referencesIn(text))));
  const named = fitting(all, words, told);
  if (words.beside === undefined) return only(named, all, words, told);
  const own = new Set(named.map(({ element }) => element));
  const others = all.flatMap(({ element }) => (own.has(element) ? [] : [element]));
  const texts = holding(document.documentElement, whole(line(unquote(words.beside))));
  const found = named.filter(({ element }) => {
    const around = place(element, texts, others);
    return (
      around !== undefined &&
      !named.some((other) => other.element !== element && within(other.element, around))
    );
  });
  return only(found, all, words, told);
}

// What stands in the page now, as it is called now. Texts have a reference only once somebody asked for them.
const things = (told: ReadonlySet<string>): Named[] =>
  described().flatMap(({ element, said, ref }) => {
    const [, role, name = '""'] = description.exec(said) ?? [];
    const isThere = role !== undefined && connected(element) && visible(element);
    return isThere && (role === 'text' || told.has(ref)) ? [{ element, role, name }] : [];
  });

// Those with the very name; else those whose name a person would take for the same, or that begins so; else what a look
// tells so and nobody can act on, such as a heading; of words without a role also the texts.
function fitting(all: readonly Named[], { role, name }: Words, told: readonly Line[]): Named[] {
  const alike = all.filter((one) => role === undefined || one.role === role);
  if (name === undefined) return alike;
  const exact = alike.filter((one) => one.name === name);
  if (exact.length > 0) return exact;
  const words = unquote(name);
  const same = alike.filter((one) => isCalled(unquote(one.name), words));
  if (same.length > 0) return same;
  const as = (elements: readonly Element[]) =>
    Array.from(new Set(elements), (element) => ({ element, role: role ?? 'text', name }));
  if (role !== undefined)
    return as(told.flatMap((one) => (withoutMore(one.text) === `${role} ${name}` ? [one.element] : [])));
  const texts = holding(document.documentElement, whole(line(words.replace(/…$/, ''))));
  const own = texts.filter((element) => isCalled(line(textOf(element)), words));
  return as(own.length > 0 ? own : told.flatMap((one) => saying(one, name)));
}

// The element of a line that is a text with these words: all of it, or what one element in it says by itself.
function saying({ text, element, parts = [] }: Line, name: string): Element[] {
  if (!text.startsWith('"') || referencesIn(text).length > 0) return [];
  const places = parts.length === 0 ? [element] : parts.map((part) => part.element);
  if (withoutMore(text) === name) {
    const whole = around(places);
    return saysOnly(whole, unquote(name)) ? [whole] : places; // what holds more may be pressed elsewhere
  }
  const wanted = line(unquote(name));
  return places.filter((place) => {
    const own = content(place).filter((one) => typeof one === 'string');
    return line(own.join(' ')) === wanted || own.some((one) => line(one) === wanted);
  });
}

// Whether nothing but these words is displayed in an element.
const saysOnly = (element: Element, words: string): boolean =>
  element instanceof HTMLElement && signs(element.innerText) === signs(words);
const signs = (text: string): string => text.replaceAll(/\s+/g, '');

// The smallest element that holds them all.
function around(places: readonly Element[]): Element {
  const [first = document.documentElement] = places;
  for (let at: Element | undefined = first; at !== undefined; at = holder(at))
    if (places.every((place) => within(place, at))) return at;
  return document.documentElement;
}

function isCalled(name: string, words: string): boolean {
  const beginning = /^(.+)…$/.exec(words)?.[1];
  return beginning === undefined ? isSameName(name, words) : name.startsWith(beginning);
}

function only(
  found: readonly Named[],
  all: readonly Named[],
  words: Words,
  told: readonly Line[],
): Element | Gone {
  const [first, ...more] = found;
  const said = cut(words.ref, 200);
  if (first === undefined)
    return { code: 'REF_GONE', message: `Nothing in the page is ${said}${instead(all, words, told)}` };
  if (more.length === 0) return first.element;
  const refs = found.slice(0, mostAlike).map(({ element }) => reference(element));
  const thing = cut(words.ref.replace(/ in ".*$/, ''), 100);
  return {
    code: 'UNKNOWN_REF',
    message: `${found.length} things are ${said} (${refs.join(', ')}): say beside which text, as in ${thing} in "…"`,
  };
}

const mostAlike = 5;
const mostInstead = 3;

// What was perhaps meant: things with a word of the name, those of the role first, and texts.
function instead(things: readonly Named[], { role, name = '""' }: Words, told: readonly Line[]): string {
  const wanted = wordsIn(name);
  const texts = told.flatMap(({ text, element }) =>
    role === undefined && /^"[^"\\]*"(?: \(|$)/.test(text)
      ? [{ element, role: 'text', name: withoutMore(text) }]
      : [],
  );
  const near = [...things, ...texts]
    .map((one) => ({ one, shared: wordsIn(one.name).filter((word) => wanted.includes(word)).length }))
    .filter(({ shared }) => shared > 0)
    .sort((a, b) => Number(b.one.role === role) - Number(a.one.role === role) || b.shared - a.shared)
    .map(({ one }) => cut(`${one.role} ${one.name}`, mostSaid));
  const some = Array.from(new Set(near)).slice(0, mostInstead);
  return some.length === 0 ? '' : `; there is ${some.join(', ')}`;
}

const wordsIn = (name: string): string[] =>
  unquote(name)
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu) ?? [];

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
  new RegExp(`(?<![\\p{L}\\p{N}])${words.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&')}(?![\\p{L}\\p{N}])`, 'u');
