// When two texts of a page name the same thing. A person who has allowed to press one thing has not allowed another one,
// and would not call it another one because its counter goes on, or a dot blinks behind it.

const mostCompared = 200; // characters

// What is drawn around words without being one: marks of required fields, dots of what loads, carets.
const edges = /^[\s:*·•.…|▌▍▏▎▊│_]+|[\s:*·•.…|▌▍▏▎▊│_]+$/gu;

/** A text as far as it is compared: without capitals, the form of blanks and letters, and marks around it. */
function plainWords(text: string): string {
  const folded = text.normalize('NFKC').replaceAll(unseen, '').replaceAll(/\s+/g, ' ').trim();
  return withoutEdges(folded.toLowerCase().slice(0, mostCompared));
}

const unseen = /[\p{Cf}\p{Co}\p{Default_Ignorable_Code_Point}]/gu;

function withoutEdges(folded: string): string {
  const bare = folded.replaceAll(edges, '');
  return bare === '' ? folded : bare;
}

// A counter stands in brackets. Any other number is a part of the name: amounts, rooms, days.
const counter = /[([]\s*(\d+(?:[.,]\d+)*)\s*([km]?)\+?\s*[)\]]/g;

// How long ago something was, and for how many seconds something still is.
const agoWords = 'ago|her|önce|geleden|sedan|siden|temu|atrás|fa|назад|tому';
const units = String.raw`(?:\p{L}+\.?\s?){1,2}`;
const ago = new RegExp(
  String.raw`\b\d+\s?${units}(?:${agoWords})(?!\p{L})|(?<!\p{L})(?:vor|il y a|hace|há)\s\d+\s?\p{L}+`,
  'gu',
);
const seconds = /\b\d+\s?(?:s|secs?|seconds?|sek|sekunden|secondes?|segundos?|secondi|с|сек)(?![\p{L}\d])/gu;

const free = 3; // by which a counter may move
const tenth = 0.1; // or by that part of it

function isNear(one: number, other: number): boolean {
  return Math.abs(one - other) <= Math.max(free, tenth * Math.max(one, other));
}

const thousands: Record<string, number> = { k: 1000, m: 1_000_000 };

// The counters of a text, and what is left of it.
function countersOf(text: string): { rest: string; counts: number[] } {
  const counts: number[] = [];
  const rest = text.replaceAll(counter, (_, digits: string, unit: string) => {
    const scaled = unit === '' ? digits.replaceAll(/[.,]/g, '') : digits.replace(',', '.');
    counts.push(Number(scaled) * (thousands[unit] ?? 1));
    return '(#)';
  });
  return { rest: rest.replaceAll(ago, '#').replaceAll(seconds, '# s'), counts };
}

/** Whether a person would take two names for that of the same thing. */
export function isSameName(one: string, other: string): boolean {
  const [a, b] = [plainWords(one), plainWords(other)];
  if (a === b) return true;
  const [was, is] = [countersOf(a), countersOf(b)];
  if (was.counts.length !== is.counts.length) return isCountedAnew(was, is);
  return was.rest === is.rest && was.counts.every((count, i) => isNear(count, is.counts[i] ?? 0));
}

// A counter that begins, or is away when there is nothing to count.
function isCountedAnew(one: ReturnType<typeof countersOf>, other: ReturnType<typeof countersOf>): boolean {
  const [few, many] = one.counts.length < other.counts.length ? [one, other] : [other, one];
  if (few.counts.length > 0 || many.counts.length !== 1 || !isNear(many.counts[0] ?? 0, 0)) return false;
  return plainWords(many.rest.replace('(#)', '')) === few.rest;
}
