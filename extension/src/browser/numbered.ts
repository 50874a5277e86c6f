// The references of what can be acted on in a document, each with the box that it has on the screen.
import { whereMet } from './act/target.ts';
import { Time } from './lines.ts';
import type { Box } from './pictured.ts';
import { calledLast } from './references.ts';
import { tellTargets } from './toldtargets.ts';
import { lines } from './tree.ts';
import { referencesIn } from './words.ts';

export interface Numbered {
  ref: string;
  box: Box;
}

const lookMs = 4000;

/** What can be acted on where it is on the screen and not covered, as a snapshot would tell it to the same viewer. */
export function numbered(viewer: string): Numbered[] {
  const all = lines(document, { interactive: true, everything: true, time: new Time(lookMs) });
  const told = all.filter(({ frame }) => frame !== true).map(({ text }) => text);
  const found = new Map<string, Box>();
  for (const ref of told.flatMap(referencesIn)) {
    const element = calledLast(ref)?.element;
    const box = element && whereMet(element);
    if (box !== undefined) found.set(ref, box);
  }
  tellTargets(
    viewer,
    told.filter((text) => referencesIn(text).some((ref) => found.has(ref))),
  );
  return Array.from(found, ([ref, box]) => ({ ref, box }));
}
