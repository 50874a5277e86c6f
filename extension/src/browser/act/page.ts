// What acting needs from the rest of the browser's tools in a document.
import type { Dialog, DialogAnswer, News } from '../../shared/bridge-messages.ts';
import type { Mark } from '../changes.ts';
import type { Gone } from '../references.ts';

export type { Dialog, DialogAnswer, News };

/** What goes on around an act, from its beginning to its end. */
export interface Watch {
  busy(): boolean; // requests that began since are under way
  known(): Promise<void>; // until all that began before are known
  touched(on: string): void; // the page gets an event by which the act is done, and on what
  end(): Promise<News>;
}

export interface Page {
  resolve(ref: string): Element | Gone;
  reference(element: Element): string;
  describe(element: Element): string; // one line: role, name and reference
  mark(): Mark;
  changesSince(mark: Mark): string[];
  watch(dialogs: DialogAnswer): Promise<Watch>;
  pause(ms: number): Promise<void>; // 0: until the page had its turn
}
