// Parts of a page that its viewer knows from the page before it, at the same site: its head, its menus and its foot are
// a line each, with a reference by which they are told whole. What a page is about is told anew, and so is what one
// types into.
import { closest, holder, matches, within } from './dom.ts';
import type { Line } from './lines.ts';
import { isPage } from './moment.ts';
import { reference } from './references.ts';
import { roleOf } from './roles.ts';
import { cut, quote, withoutReferences, wordsOf } from './words.ts';

const fewest = 4; // lines that are worth a line in their place
const mostKnown = 600; // lines of one page

/** A part, by the lines it has from one place up to another, and the line that is told in their place. */
interface Known {
  to: number;
  line: Line;
}

/** The lines of a page by which the next one of its site is compared with it. */
export const toCompare = (all: readonly { text: string }[]): string[] =>
  all.slice(0, mostKnown).map(({ text }) => withoutReferences(text));

/** The parts that are as they were, by the place of their first line. */
export function asBefore(now: readonly Line[], before: readonly string[]): ReadonlyMap<number, Known> {
  const found = new Map<number, Known>();
  if (before.length < fewest) return found;
  const texts = toCompare(now);
  const spans = spansOf(now.slice(0, texts.length));
  const places = placesOf(before);
  for (let at = 0; at < texts.length; ) {
    const span = spansFrom(spans, now, at).find(
      ([, { to }]) => to - at >= fewest && isKnown(texts, at, to, before, places),
    );
    if (span === undefined) at++;
    else {
      const [outermost, { to }] = span;
      const head = now[at]?.element ?? outermost;
      const element = spans.get(head)?.to === to ? head : outermost; // whose line says what it is
      found.set(at, { to, line: inPlaceOf(element, now.slice(at, to)) });
      at = to;
    }
  }
  return found;
}

interface Span {
  from: number;
  to: number;
  lines: number;
}

// Between which places the lines of each element are that may be told in one.
function spansOf(now: readonly Line[]): Map<Element, Span> {
  const spans = new Map<Element, Span>();
  now.forEach((one, at) => {
    for (const element of around(one.element)) {
      const span = spans.get(element);
      if (span === undefined) spans.set(element, { from: at, to: at + 1, lines: 1 });
      else {
        span.to = at + 1;
        span.lines++;
      }
    }
  });
  for (const one of now)
    if (one.frame === true || one.modal === true || typesInto.test(one.text))
      for (const element of around(one.element)) spans.delete(element);
  const isBeside = besideMatter();
  for (const element of spans.keys()) if (!isBeside(element)) spans.delete(element);
  return spans;
}

function* around(element: Element): Generator<Element> {
  for (let at: Element | undefined = element; at !== undefined && !isPage(at); at = holder(at)) yield at;
}

const typesInto = /(?:^|[ |])(?:combobox|listbox|password|searchbox|slider|spinbutton|textbox|file)\b/;

const beside = new Set(['banner', 'complementary', 'contentinfo', 'menubar', 'navigation']);
const main = 'main, [role=main]';
const matter = `${main}, article, [role=article], dialog, [role=dialog], [role=alertdialog]`;

// Whether an element stands beside what the page is about: in its head, menus or foot, or outside of its main part.
function besideMatter(): (element: Element) => boolean {
  const matters = within(document.documentElement, matter);
  const hasMain = matters.some((one) => matches(one, main));
  const { contains } = Node.prototype;
  return (element) =>
    closest(element, matter) === null &&
    !matters.some((one) => contains.call(element, one)) &&
    (hasMain || Array.from(around(element)).some((one) => beside.has(roleOf(one))));
}

// The parts that begin at a place, the largest first.
const spansFrom = (
  spans: ReadonlyMap<Element, Span>,
  now: readonly Line[],
  at: number,
): [Element, Span][] => {
  const one = now[at];
  if (one === undefined) return [];
  return Array.from(around(one.element))
    .flatMap((element): [Element, Span][] => {
      const span = spans.get(element);
      const isWhole = span !== undefined && span.from === at && span.lines === span.to - span.from;
      return isWhole ? [[element, span]] : [];
    })
    .toReversed();
};

function placesOf(before: readonly string[]): ReadonlyMap<string, number[]> {
  const places = new Map<string, number[]>();
  before.forEach((text, at) => {
    const known = places.get(text);
    if (known === undefined) places.set(text, [at]);
    else known.push(at);
  });
  return places;
}

const isKnown = (
  texts: readonly string[],
  from: number,
  to: number,
  before: readonly string[],
  places: ReadonlyMap<string, number[]>,
): boolean =>
  to <= texts.length &&
  (places.get(texts[from] ?? '') ?? []).some((at) =>
    texts.slice(from, to).every((text, n) => text === before[at + n]),
  );

const mostOfName = 40; // characters

function inPlaceOf(element: Element, part: readonly Line[]): Line {
  const [head] = part;
  const ref = reference(element);
  const depth = head?.depth ?? 0;
  const named = head?.element === element ? head : undefined;
  if (named !== undefined) {
    const own = named.ref === undefined ? ` [${ref}]` : '';
    return { depth, element, ref, text: `${named.text}${own}: ${part.length - 1} lines as before` };
  }
  const ends = `${brief(head)} to ${brief(part.at(-1))}`;
  return { depth, element, ref, text: `… ${part.length} lines as before, ${ends} [${ref}]` };
}

function brief(one: Line | undefined): string {
  const [words = ''] = wordsOf(one?.text ?? '');
  const role = /^[a-z0-9 ]*/.exec(one?.text ?? '')?.[0].trim() ?? '';
  return words === '' ? role : `${role} ${quote(cut(words, mostOfName))}`.trim();
}
