// What each viewer was told of the things it may act on: what an act finds is compared with that.

import { atOnce } from './moment.ts';
import { calledLast } from './references.ts';
import { aside, type Target } from './targets.ts';
import { referencesIn } from './words.ts';

interface Told {
  last: Target;
  duringCall: number; // in which it was answered
  before?: Target; // what earlier calls were answered
}

interface Knowledge {
  calls: number;
  told: WeakMap<Element, Told>;
}

const viewers = new Map<string, Knowledge>();
const mostViewers = 12;

function knowledgeOf(viewer: string): Knowledge {
  const found = viewers.get(viewer) ?? { calls: 0, told: new WeakMap() };
  viewers.delete(viewer);
  viewers.set(viewer, found);
  for (const oldest of viewers.keys()) {
    if (viewers.size <= mostViewers) break;
    viewers.delete(oldest);
  }
  return found;
}

/** A viewer is answered with these lines, which were written just now. */
export function tellTargets(viewer: string, lines: readonly string[]): void {
  const { calls, told } = knowledgeOf(viewer);
  atOnce(() => {
    for (const text of lines)
      for (const ref of referencesIn(text)) {
        const named = calledLast(ref);
        if (named === undefined) continue;
        const before = toldTarget(viewer, named.element);
        const last = { ...named.called, ...aside(named.element) };
        told.set(named.element, { last, duringCall: calls, ...(before !== undefined && { before }) });
      }
  });
}

/** A viewer calls, and knows what it was answered before. */
export function viewerCalls(viewer: string): void {
  knowledgeOf(viewer).calls++;
}

/** What a viewer knew of an element when its call began; undefined: nothing. */
export function toldTarget(viewer: string, element: Element): Target | undefined {
  const knowledge = viewers.get(viewer);
  const told = knowledge?.told.get(element);
  return told !== undefined && told.duringCall === knowledge?.calls ? told.before : told?.last;
}
