// Where in a page its new lines stand, and which of its lines are gone: as briefly as that can be said.
import type { Line } from './lines.ts';
import { cut, quote, referencesIn, withoutMore, withoutReferences, wordsOf } from './words.ts';

const fewAnew = 2; // lines that are told one by one
const fewGone = 3; // lines of one part that are told one by one
const shortLine = 50; // characters
const mostRanges = 8; // of references that are gone

/**
 * Where lines that are new stand, for those that do not stand behind the line that is told before them. A part that is
 * all there is to tell, and ends the page, needs no place.
 */
export function placesOf(added: readonly Line[], now: readonly Line[]): Map<Line, string> {
  const places = new Map<Line, string>();
  const [first] = added;
  const isLast = added.length > 0 && added.every((one, i) => one === now[now.length - added.length + i]);
  if (first === undefined || isLast) return places;
  const told = new Set(added);
  now.forEach((one, at) => {
    if (!told.has(one)) return;
    const before = now[at - 1];
    if (before !== undefined && told.has(before)) return;
    const place = one.modal === true ? '' : placeOf(one, now, at);
    if (place !== '') places.set(one, ` (${place})`);
  });
  return places;
}

// Behind the line before it, or in what holds it.
function placeOf(one: Line, now: readonly Line[], at: number): string {
  const before = now[at - 1];
  if (before === undefined || before.element === document.documentElement) return 'first';
  const name = nameOf(before);
  if (name !== undefined) return `${before.depth < one.depth ? 'under' : 'after'} ${name}`;
  const holder = now.slice(0, at).findLast(({ depth }) => depth < one.depth);
  const of = holder === undefined ? undefined : nameOf(holder);
  return of === undefined ? '' : `under ${of}`;
}

const nameOf = ({ ref, text }: Line): string | undefined =>
  ref ?? (text.length <= shortLine ? withoutMore(text) : undefined);

/**
 * Lines that are gone: a few by their words, a whole part by its references; and so are those whose words stand in new
 * lines. Which of these took the place of which is not known, and not said.
 */
export function sayGone(
  gone: readonly { text: string }[],
  before: readonly { text: string }[],
  now: readonly Line[],
  added: readonly Line[],
): string[] {
  if (gone.length === 0) return [];
  const there = new Set(now.flatMap(({ text }) => referencesIn(text)));
  const refsOf = (part: readonly { text: string }[]): string => {
    const refs = part.flatMap(({ text }) => referencesIn(text)).filter((ref) => !there.has(ref));
    return refs.length > 0 ? ` (${ranges(refs)})` : '';
  };
  const all = new Set(gone);
  const isAll = gone.length > fewGone && before.every((one) => all.has(one) || isHead(one));
  if (isAll) return [`- all before${refsOf(gone)}`];
  const anew = toldAnew(gone, added);
  const rest = anew.size < fewAnew ? gone : gone.filter((one) => !anew.has(one));
  const said = partsOf(rest, before).flatMap((part) =>
    part.length <= fewGone
      ? part.map(({ text }) => `- ${cut(text, 80)}`)
      : [`- ${part.length} lines from ${brief(part[0]?.text ?? '')}${refsOf(part)}`],
  );
  return anew.size < fewAnew ? said : [...said, `- ${anew.size} lines told anew${refsOf(Array.from(anew))}`];
}

// Those that say what a new line says, but for the references: all that say the same, or none.
function toldAnew<One extends { text: string }>(gone: readonly One[], added: readonly Line[]): Set<One> {
  const left = new Map<string, number>();
  const count = (text: string, by: number) =>
    left.set(withoutReferences(text), (left.get(withoutReferences(text)) ?? 0) + by);
  for (const { text } of added) count(text, 1);
  const told = new Set(left.keys());
  for (const { text } of gone) count(text, -1);
  return new Set(
    gone.filter(({ text }) => {
      const words = withoutReferences(text);
      return told.has(words) && (left.get(words) ?? 0) >= 0;
    }),
  );
}

const isHead = ({ text }: { text: string }): boolean => text.startsWith('page ');

// Those that followed each other.
function partsOf<One>(gone: readonly One[], before: readonly One[]): One[][] {
  const parts: One[][] = [];
  const places = new Map(before.map((one, at) => [one, at]));
  let last = Number.NaN;
  for (const one of gone) {
    const at = places.get(one) ?? Number.NaN;
    if (at !== last + 1) parts.push([]);
    parts.at(-1)?.push(one);
    last = at;
  }
  return parts;
}

// How a line begins, with every quote closed.
function brief(text: string): string {
  if (text.length <= shortLine) return text;
  const [words = ''] = wordsOf(text);
  const role = /^[^"]*/.exec(text)?.[0] ?? '';
  return `${cut(role, shortLine)}${words === '' ? '' : quote(cut(words, shortLine))}`;
}

// References in their order: e7-e9, e12.
function ranges(refs: readonly string[]): string {
  const numbered = Array.from(new Set(refs), (ref) => {
    const at = ref.lastIndexOf('e');
    return { prefix: ref.slice(0, at + 1), number: Number(ref.slice(at + 1)) };
  }).sort((a, b) => (a.prefix === b.prefix ? a.number - b.number : a.prefix < b.prefix ? -1 : 1));
  const said: { prefix: string; from: number; to: number }[] = [];
  for (const { prefix, number } of numbered) {
    const last = said.at(-1);
    if (last?.prefix === prefix && last.to + 1 === number) last.to = number;
    else said.push({ prefix, from: number, to: number });
  }
  const all = said.map(({ prefix, from, to }) => `${prefix}${from}${to > from ? `-${prefix}${to}` : ''}`);
  return all.length > mostRanges ? `${all.slice(0, mostRanges).join(', ')}, …` : all.join(', ');
}
