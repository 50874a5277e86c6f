import type { Line, Options } from './lines.ts';
import { lines } from './tree.ts';

/** What is different: lines that are new or say something else, and those that are gone. */
export interface Changes<Before, After> {
  added: After[];
  gone: Before[];
  moved: Moved<After>[];
}

/** A line that stands elsewhere among the others; behind: the one it follows now. */
export interface Moved<After> {
  line: After;
  behind: After | undefined;
}

/** Compares two lists of lines by what they say. */
export function changes<Before extends { text: string }, After extends { text: string }>(
  before: readonly Before[],
  after: readonly After[],
): Changes<Before, After> {
  let start = 0;
  while (start < before.length && start < after.length && before[start]?.text === after[start]?.text) start++;
  let [endBefore, endAfter] = [before.length, after.length];
  while (endBefore > start && endAfter > start && before[endBefore - 1]?.text === after[endAfter - 1]?.text) {
    endBefore--;
    endAfter--;
  }
  const counts = new Map<string, number>();
  for (const { text } of before.slice(start, endBefore)) counts.set(text, (counts.get(text) ?? 0) + 1);
  const added: After[] = [];
  for (const one of after.slice(start, endAfter)) {
    const left = counts.get(one.text) ?? 0;
    if (left === 0) added.push(one);
    else counts.set(one.text, left - 1);
  }
  const gone: Before[] = [];
  for (const one of before.slice(start, endBefore).toReversed()) {
    const left = counts.get(one.text) ?? 0;
    if (left === 0) continue;
    counts.set(one.text, left - 1);
    gone.unshift(one);
  }
  const moved = movedIn(before.slice(start, endBefore), after.slice(start, endAfter), after[start - 1]);
  return { added, gone, moved };
}

// Of the lines that are in both, the fewest without which the others have kept their order.
function movedIn<After extends { text: string }>(
  before: readonly { text: string }[],
  after: readonly After[],
  head: After | undefined,
): Moved<After>[] {
  const places = new Map<string, number[]>();
  before.forEach(({ text }, at) => {
    const known = places.get(text);
    if (known === undefined) places.set(text, [at]);
    else known.push(at);
  });
  const kept = after.flatMap((line, at) => {
    const was = places.get(line.text)?.shift();
    return was === undefined ? [] : [{ line, was, behind: after[at - 1] ?? head }];
  });
  const still = longestRising(kept.map(({ was }) => was));
  return kept.filter((_, at) => !still.has(at)).map(({ line, behind }) => ({ line, behind }));
}

// The places of a longest part of a list of numbers in which each is higher than the one before.
function longestRising(numbers: readonly number[]): Set<number> {
  const ends: number[] = []; // of the rising parts of each length, the place of the lowest end
  const before: (number | undefined)[] = [];
  numbers.forEach((number, at) => {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((numbers[ends[middle] ?? 0] ?? 0) < number) low = middle + 1;
      else high = middle;
    }
    before.push(ends[low - 1]);
    ends[low] = at;
  });
  const found = new Set<number>();
  for (let at = ends.at(-1); at !== undefined; at = before[at]) found.add(at);
  return found;
}

/** A moment, to ask later what changed since. Forgotten with `end`. */
export interface Mark {
  readonly lines: Line[];
  readonly observer: MutationObserver;
  dirty: boolean;
}

/** Remembers how the page looks now. */
export function mark(options: Options = {}): Mark {
  const made: { dirty: boolean } = { dirty: false };
  const observer = new MutationObserver(() => {
    made.dirty = true;
  });
  observer.observe(document, { subtree: true, childList: true, characterData: true, attributes: true });
  return Object.assign(made, { lines: lines(document, options), observer });
}

export const end = (since: Mark): void => since.observer.disconnect();
