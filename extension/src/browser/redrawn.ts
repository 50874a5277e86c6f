// What a page has drawn anew: lines whose elements are others, and which say what they said. All that is news of them
// is their references, and words that are others in all of them alike, such as the time; of a row, the cells that
// changed.
import { longestRising } from './changes.ts';
import { cellsOf, rowHead } from './columns.ts';
import { formOf, quotedIn, referencesIn, withoutReferences } from './words.ts';

const fewestAlike = 3; // lines with the same other words that are told together
const mostSpans = 8; // of references: what takes more is told line by line
const fewestCells = 4; // of a row of which only a part is told

type Text = { text: string };

/**
 * The lines that were drawn anew where they stood, and what each was. Only those are taken for that of which one was
 * and one is there, and those that stand behind such a one as they did: of several alike nobody knows which is which.
 */
export function redrawnIn<Before extends Text, After extends Text>(
  before: readonly Before[],
  now: readonly After[],
  gone: ReadonlySet<Before>,
  added: ReadonlySet<After>,
): Map<After, Before> {
  if (gone.size === 0 || added.size === 0) return new Map();
  const exactly = pairsOf(before, now, withoutReferences, new Map());
  const pairs = pairsOf(before, now, keyOf, exactly);
  const places = new Map(before.map((one, at) => [one, at]));
  // What stands among other things than before is another thing, though it is called so: the "Next" of the next step.
  const isWhereItWas = (was: Before, at: number): boolean =>
    [-1, 1].some((side) => {
      const beside = now[at + side];
      const other = before[(places.get(was) ?? 0) + side];
      return beside !== undefined && other !== undefined && pairs.get(beside) === other;
    });
  const found = new Map<After, Before>();
  now.forEach((is, at) => {
    const was = pairs.get(is);
    if (was !== undefined && added.has(is) && gone.has(was) && isWhereItWas(was, at)) found.set(is, was);
  });
  return found;
}

// What a row is known by when one of its cells says something else: what it is, and its first words.
function keyOf(text: string): string {
  const [first = ''] = quotedIn(text);
  return rowHead.test(text) && first.length > 2 ? `${formOf(text)} ${first}` : withoutReferences(text);
}

// Pairs of lines with the same key, those known already among them, in the order that both kept.
function pairsOf<Before extends Text, After extends Text>(
  before: readonly Before[],
  now: readonly After[],
  key: (text: string) => string,
  known: ReadonlyMap<After, Before>,
): Map<After, Before> {
  const keys = before.map(({ text }) => key(text));
  const places = new Map(before.map((one, at) => [one, at]));
  const were = placesBy(keys);
  const are = placesBy(now.map(({ text }) => key(text)));
  const found: { is: After; at: number }[] = [];
  let next = -1; // behind what the line above was
  let above = '';
  for (const is of now) {
    const own = key(is.text);
    const was = known.get(is);
    let at = was === undefined ? -1 : (places.get(was) ?? -1);
    if (at < 0 && were.get(own)?.length === 1 && are.get(own)?.length === 1) at = were.get(own)?.[0] ?? -1;
    // Behind what the line above was, where that says something else: of a run that says the same, any can be gone.
    const isRun = own === above && were.get(own)?.length !== are.get(own)?.length;
    const behind = isRun ? undefined : before[next];
    if (at < 0 && behind !== undefined && isSame(behind, is)) at = next;
    next = at < 0 ? -1 : at + 1;
    above = own;
    if (at >= 0) found.push({ is, at });
  }
  const rising = longestRising(found.map(({ at }) => at));
  const kept = found.filter((_, n) => rising.has(n));
  return new Map(kept.flatMap(({ is, at }) => (before[at] === undefined ? [] : [[is, before[at]]])));
}

const isSame = (one: Text, other: Text): boolean =>
  withoutReferences(one.text) === withoutReferences(other.text);

function placesBy(keys: readonly string[]): Map<string, number[]> {
  const places = new Map<string, number[]>();
  keys.forEach((key, at) => {
    const known = places.get(key);
    if (known === undefined) places.set(key, [at]);
    else known.push(at);
  });
  return places;
}

/** What is said of lines that were drawn anew together, and which those are. */
export function sayRedrawn<After extends Text>(
  all: ReadonlyMap<After, Text>,
): { said: string[]; together: ReadonlySet<After> } {
  const groups = new Map<string, [After, Text][]>();
  for (const one of all) {
    const other = otherWords(one[1].text, one[0].text);
    const group = groups.get(other);
    if (group === undefined) groups.set(other, [one]);
    else group.push(one);
  }
  const said: string[] = [];
  const together = new Set<After>();
  for (const [other, group] of groups) {
    const spans = spansOf(group);
    const isBrief = spans.length > 0 && spans.length <= mostSpans;
    if (!isBrief || (other !== '' && group.length < fewestAlike)) continue;
    said.push(`~ drawn anew${other === '' ? '' : `, ${other}`}: ${spans.map(saySpan).join(', ')}`);
    for (const [is] of group) together.add(is);
  }
  return { said, together };
}

// The words of a line that are others since: "3 ticks" → "4 ticks".
function otherWords(was: string, is: string): string {
  const now = quotedIn(is);
  const other = quotedIn(was).flatMap((one, at) => (one === now[at] ? [] : [`${one} → ${now[at]}`]));
  return other.join(', ');
}

interface Span {
  prefix: string;
  was: number;
  is: number;
  count: number;
}

// References that became others, those that count on together.
function spansOf(all: readonly (readonly [Text, Text])[]): Span[] {
  const spans: Span[] = [];
  for (const [is, was] of all) {
    const now = referencesIn(is.text);
    referencesIn(was.text).forEach((ref, at) => {
      const other = now[at];
      if (other === undefined || other === ref) return;
      const prefix = ref.slice(0, ref.lastIndexOf('e') + 1);
      const [from, to] = [numberOf(ref), numberOf(other)];
      const last = spans.at(-1);
      if (last?.prefix === prefix && last.was + last.count === from && last.is + last.count === to)
        last.count++;
      else spans.push({ prefix, was: from, is: to, count: 1 });
    });
  }
  return spans;
}

const numberOf = (ref: string): number => Number(ref.slice(ref.lastIndexOf('e') + 1));

const saySpan = ({ prefix, was, is, count }: Span): string =>
  `${range(prefix, was, count)} → ${range(prefix, is, count)}`;

const range = (prefix: string, from: number, count: number): string =>
  `${prefix}${from}${count > 1 ? `-${prefix}${from + count - 1}` : ''}`;

const anew = /^~ drawn anew(?:: |, .*: )(?=(?:f\d+)?e\d+(?:-(?:f\d+)?e\d+)? → )/;
const spanSaid = /→ ((?:f\d+)?e)(\d+)(?:-(?:f\d+)?e(\d+))?(?=, |$)/g;

/** The references of what a line says to be drawn anew, as they are since. */
export function drawnAnew(said: string): string[] {
  const [beginning] = anew.exec(said) ?? [];
  if (beginning === undefined) return [];
  return Array.from(said.slice(beginning.length).matchAll(spanSaid)).flatMap(([, prefix, from, to = from]) =>
    Array.from({ length: Number(to) - Number(from) + 1 }, (_, n) => `${prefix}${Number(from) + n}`),
  );
}

/** The line of a row without the cells that are as they were, but for its first words, by which it is known. */
export function otherCells(was: string, is: string): string {
  const [beginning = ''] = rowHead.exec(is) ?? [];
  const [before = ''] = rowHead.exec(was) ?? [];
  const now = cellsOf(is.slice(beginning.length));
  const old = cellsOf(was.slice(before.length));
  if (beginning === '' || now.length < fewestCells || now.length !== old.length) return is;
  const first = now.findIndex((cell) => /^"/.test(cell));
  const said = now.map((cell, at) => (cell === old[at] && at !== first ? '…' : cell));
  return beginning + said.join(' | ');
}
