// What changed between two looks at a page.
import { connected, holder } from './dom.ts';
import { type Line, lines, type Options } from './tree.ts';

/** What is different: lines that are new or say something else, and those that are gone. */
export interface Changes<Before, After> {
  added: After[];
  gone: Before[];
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
  return { added, gone };
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

/** What changed since; `end` it when nobody asks again. */
export function changesSince(since: Mark): Changes<Line, Line> {
  return changes(since.lines, lines(document));
}

export const end = (since: Mark): void => since.observer.disconnect();

/** Whether an element is still in its page, in all shadow roots around it. */
export function isAlive(element: Element): boolean {
  return connected(element) && holder(element) !== undefined;
}
