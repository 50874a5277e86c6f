// Hands out the references (e1, f2e1, …) by which snapshots name elements. Those of a tab's page go on counting when
// the tab shows another page; those of a frame have the number of its document as a prefix. So none is given twice in
// a tab, even where a javascript: address replaces a document, which then keeps its id. The state outlives this
// worker.

import { type Guard, isNumber, isRecord, isText, shape } from '../../shared/guards.ts';
import type { SessionStore } from '../util/store.ts';
import type { Bridge } from './bridges.ts';

const isNumbers: Guard<Record<string, number>> = (value): value is Record<string, number> =>
  isRecord(value) && Object.values(value).every(isNumber);
const isTexts: Guard<Record<string, string>> = (value): value is Record<string, string> =>
  isRecord(value) && Object.values(value).every(isText);

interface Given {
  next: number; // of the page's
  top: string; // the document that counts now
  frames: Record<string, number>; // by document
  nextIn: Record<string, number>; // by document of a frame
  tops: Record<string, string>; // of frames: the document of the tab, by their own
}

const isGiven: Guard<Given> = shape({
  next: isNumber,
  top: isText,
  frames: isNumbers,
  nextIn: isNumbers,
  tops: isTexts,
});

const prefix = 'references:';

export class References {
  readonly #tabs = new Map<number, Given>();
  readonly #store: SessionStore;
  readonly #loaded: Promise<void>;

  constructor(store: SessionStore) {
    this.#store = store;
    this.#loaded = this.#load();
  }

  /** The prefix and the first number for a document that has not given references yet. */
  async about(
    { tabId, documentId, frameId }: Pick<Bridge, 'tabId' | 'documentId' | 'frameId'>,
    top?: Bridge,
  ): Promise<{ prefix: string; first: number }> {
    await this.#loaded;
    const given = this.#of(tabId);
    if (frameId === 0) {
      if (given.top !== documentId) {
        given.top = documentId;
        this.#keep(tabId);
      }
      return { prefix: 'e', first: given.next };
    }
    let number = given.frames[documentId];
    if (number === undefined) {
      number = Object.keys(given.frames).length + 1;
      given.frames[documentId] = number;
      given.tops[documentId] = top?.documentId ?? given.top;
      this.#keep(tabId);
    }
    return { prefix: `f${number}e`, first: given.nextIn[documentId] ?? 1 };
  }

  /** Notes that a document has given all references before next. */
  given({ tabId, frameId, documentId }: Bridge, next: number): void {
    const given = this.#of(tabId);
    if (next <= (frameId === 0 ? given.next : (given.nextIn[documentId] ?? 1))) return;
    if (frameId === 0) given.next = next;
    else given.nextIn[documentId] = next;
    this.#keep(tabId);
  }

  /** The document of a reference in a frame; undefined: it was never given. */
  async frame(tabId: number, ref: string): Promise<{ documentId: string; top: string } | undefined> {
    await this.#loaded;
    const number = Number(/^f(\d+)(?:e\d+)?$/.exec(ref)?.[1]);
    const { frames, tops } = this.#of(tabId);
    const documentId = Object.keys(frames).find((id) => frames[id] === number);
    return documentId === undefined ? undefined : { documentId, top: tops[documentId] ?? '' };
  }

  /** Forgets a tab that was closed. */
  forget(tabId: number): void {
    this.#tabs.delete(tabId);
    this.#store.remove([prefix + tabId]).catch(() => {});
  }

  #of(tabId: number): Given {
    const known = this.#tabs.get(tabId);
    if (known !== undefined) return known;
    const given: Given = { next: 1, top: '', frames: {}, nextIn: {}, tops: {} };
    this.#tabs.set(tabId, given);
    return given;
  }

  #keep(tabId: number): void {
    this.#store.set({ [prefix + tabId]: this.#of(tabId) }).catch(() => {});
  }

  async #load(): Promise<void> {
    const all = await this.#store.get(null);
    for (const [key, value] of Object.entries(all))
      if (key.startsWith(prefix) && isGiven(value)) this.#tabs.set(Number(key.slice(prefix.length)), value);
  }
}
