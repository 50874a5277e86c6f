// What the bridge offers to the other scripts of its world.
import type { DialogAnswer, News } from './bridge-messages.ts';

/** An act that goes on. */
export interface Watched {
  busy(): boolean; // requests that began since are under way, or were since the last look
  known(): Promise<void>; // until the worker has told of the requests that began before
  touched(on: string): void; // the page gets an event by which the act is done, and on what
  end(): Promise<News>;
}

declare global {
  interface TabrelayBridge {
    register(about: unknown, definition: unknown, enter?: unknown): void;
    shadowRoot?(host: HTMLElement): ShadowRoot | null; // also a closed one
    watch?(answer: DialogAnswer): Promise<Watched>;
    pause?(ms: number): Promise<void>;
  }
  var tabrelayBridge: TabrelayBridge | undefined;
}
