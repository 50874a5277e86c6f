// This document, as the modules for acting see it.
import { end, mark } from '../changes.ts';
import type { Line } from '../lines.ts';
import { difference, told } from '../looking.ts';
import { pause, turn } from '../pausing.ts';
import { reference } from '../references.ts';
import { find } from '../resolved.ts';
import { describe, lines } from '../tree.ts';
import type { DialogAnswer, Page, Watch } from './page.ts';

const maxLines = 60;

let viewer = '';

/** Says who is told of what changes from here on. */
export function tellTo(name: string): void {
  viewer = name;
}

// Where the focus is, is told by itself.
const unfocused = (text: string): string => text.replace(/(\[(?:f\d+)?e\d+\](?: [a-z]+)*?|") focused/g, '$1');

const nobody: Watch = { busy: () => false, known: async () => {}, touched() {}, end: async () => ({}) };

/** How references in the document of a frame begin is said by the worker (references.ts). */
export const page: Page = {
  resolve: find,
  reference,
  describe: (element) => unfocused(describe(element)),
  mark,
  changesSince(since) {
    end(since);
    const now = lines(document);
    const calm = (all: readonly Line[]) =>
      all.map((one) => (one.text.includes(' focused') ? { ...one, text: unfocused(one.text) } : one));
    const changes = difference(viewer, since, calm(since.lines), calm(now));
    const isAll = changes.length <= maxLines;
    told(viewer, since, since.lines, isAll ? now : since.lines);
    if (isAll) return changes;
    return [...changes.slice(0, maxLines), `… ${changes.length - maxLines} more lines changed`];
  },
  watch: (dialogs: DialogAnswer) => globalThis.tabrelayBridge?.watch?.(dialogs) ?? Promise.resolve(nobody),
  pause: (ms) => (ms === 0 ? turn() : pause(ms)),
};
