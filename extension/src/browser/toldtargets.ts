// What each viewer was told of the things it may act on: what an act finds is compared with that.

import { atOnce } from './moment.ts';
import { calledLast } from './references.ts';
import { aside, type Target } from './targets.ts';

interface Knowledge {
  known: WeakMap<Element, Target>;
  answered: Map<Element, Target>; // in answers since its last call
}

const viewers = new Map<string, Knowledge>();
const mostViewers = 12;

function knowledgeOf(viewer: string): Knowledge {
  const found = viewers.get(viewer) ?? { known: new WeakMap(), answered: new Map() };
  viewers.delete(viewer);
  viewers.set(viewer, found);
  for (const oldest of viewers.keys()) {
    if (viewers.size <= mostViewers) break;
    viewers.delete(oldest);
  }
  return found;
}

const references = /(?<!\\)\[((?:f\d+)?e\d+)\]/g;

/** A viewer is answered with these lines, which were written just now. */
export function tellTargets(viewer: string, lines: readonly string[]): void {
  const { answered } = knowledgeOf(viewer);
  atOnce(() => {
    for (const text of lines)
      for (const [, ref = ''] of text.matchAll(references)) {
        const last = calledLast(ref);
        if (last !== undefined) answered.set(last.element, { ...last.called, ...aside(last.element) });
      }
  });
}

/** A viewer calls, and knows what it was answered before. */
export function viewerCalls(viewer: string): void {
  const { known, answered } = knowledgeOf(viewer);
  for (const [element, target] of answered) known.set(element, target);
  answered.clear();
}

/** What a viewer was told of an element last; undefined: nothing. */
export const toldTarget = (viewer: string, element: Element): Target | undefined =>
  viewers.get(viewer)?.known.get(element);
