// This document, as the modules for acting see it.
import { changesSince, end, mark } from '../changes.ts';
import { isGone, reference, resolve } from '../references.ts';
import { describe, type Line, lines } from '../tree.ts';
import type { DialogAnswer, Page, Watch } from './page.ts';

const maxLines = 60;

const nobody: Watch = { busy: () => false, end: async () => ({}) };

/** How references in the document of a frame begin is said by the worker (references.ts). */
export const page: Page = {
  resolve(ref) {
    const found = resolve(ref);
    if (!isGone(found) || found.successor !== undefined || found.code !== 'REF_GONE') return found;
    lines(document); // so that what took its place has a reference
    return resolve(ref);
  },
  reference,
  describe,
  mark,
  changesSince(since) {
    const { added, gone } = changesSince(since);
    end(since);
    const calm = ({ text }: Line) => text.replace(/(\]|") focused/g, '$1'); // where the focus is is told by itself
    const before = new Set(gone.map(calm));
    const fresh = added.filter((one) => !before.has(calm(one)));
    const after = new Set(added.map(calm));
    const known = new Set(fresh.map(({ ref }) => ref));
    const lost = gone.filter(
      (one) => !after.has(calm(one)) && (one.ref === undefined || !known.has(one.ref)),
    );
    const told = [...fresh.map(({ text }) => `+ ${text}`), ...lost.map(({ text }) => `- ${text}`)];
    if (told.length <= maxLines) return told;
    return [...told.slice(0, maxLines), `… ${told.length - maxLines} more lines changed`];
  },
  watch: (dialogs: DialogAnswer) => globalThis.tabrelayBridge?.watch?.(dialogs) ?? Promise.resolve(nobody),
  pause: (ms) => (ms === 0 ? turn() : new Promise((resolve) => setTimeout(resolve, ms))),
};

/** Lets the page have its turn. Timers of hidden pages are slow; a message is not. */
export function turn(): Promise<void> {
  return new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = () => {
      port1.close();
      resolve();
    };
    port2.postMessage(undefined);
  });
}
