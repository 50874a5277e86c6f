// The state that must survive this worker: a random epoch, and for every writing call in flight the document it was
// sent to and, once it has ended, its outcome. chrome.storage.session outlives the worker and ends with the browser
// or with a reload of the extension. The epoch ends with it, so that an empty store of a new epoch proves nothing
// about calls of an earlier one.
import { type Guard, isNumber, isText, optional, shape } from '../../shared/guards.ts';
import type { Bridge } from '../documents/bridges.ts';
import { randomHex } from '../util/random.ts';
import type { SessionStore } from '../util/store.ts';

/** The document that a writing call was sent to. */
export interface SentWrite {
  tabId: number;
  documentId: string; // empty: the worker does it, and no document knows of it
  frameId: number;
  outcome?: string | undefined; // the whole outcome frame
}

const isSentWrite: Guard<SentWrite> = shape({
  tabId: isNumber,
  documentId: isText,
  frameId: isNumber,
  outcome: optional(isText),
});

const prefix = 'call:';
const mostFrames = 1000;
const outcomeLimit = 64 * 1024;
const totalLimit = 4 * 1024 * 1024;

export class Records {
  #epoch = '';
  #size = 0; // characters of all stored outcomes
  readonly #calls = new Map<string, SentWrite>();
  #frames: string[] = []; // documents of frames that a bridge was put into, the latest last
  readonly #store: SessionStore;
  readonly loaded: Promise<void>;

  constructor(store: SessionStore) {
    this.#store = store;
    this.loaded = this.#load();
  }

  get epoch(): string {
    return this.#epoch;
  }

  get(id: string): SentWrite | undefined {
    return this.#calls.get(id);
  }

  /** The stored outcomes, by call id. */
  *outcomes(): Generator<[id: string, frame: string]> {
    for (const [id, { outcome }] of this.#calls) if (outcome !== undefined) yield [id, outcome];
  }

  /**
   * Records the document of a writing call. To be awaited before the call is sent, so that a missing record is proof.
   */
  async recordSent(id: string, place: Pick<SentWrite, 'tabId' | 'documentId' | 'frameId'>): Promise<void> {
    this.#calls.set(id, place);
    await this.#store.set({ [prefix + id]: place });
  }

  /** Records that this worker does a writing call itself, whatever documents have done for it before. */
  recordHere(id: string, tabId: number): Promise<void> {
    return this.recordSent(id, { tabId, documentId: '', frameId: 0 });
  }

  /** Records that a bridge is injected into the document of a frame, whose messages are accepted from then on. */
  async recordFrame(documentId: string): Promise<void> {
    if (this.#frames.includes(documentId)) return;
    this.#frames = [...this.#frames.slice(1 - mostFrames), documentId];
    await this.#store.set({ frames: this.#frames });
  }

  hasFrame(documentId: string): boolean {
    return this.#frames.includes(documentId);
  }

  /** Stores the outcome of a recorded call until it is acknowledged, unless it is too large: the bridge has it, too. */
  recordOutcome(id: string, outcome: string): void {
    const seen = this.#calls.get(id);
    if (seen === undefined || outcome.length > outcomeLimit || this.#size + outcome.length > totalLimit)
      return;
    this.#size += outcome.length - (seen.outcome?.length ?? 0);
    const record = { ...seen, outcome };
    this.#calls.set(id, record);
    this.#store.set({ [prefix + id]: record }).catch(() => {}); // the bridge has it too
  }

  forget(ids: readonly string[]): void {
    const keys: string[] = [];
    for (const id of ids) {
      const seen = this.#calls.get(id);
      if (seen === undefined) continue;
      this.#size -= seen.outcome?.length ?? 0;
      this.#calls.delete(id);
      keys.push(prefix + id);
    }
    if (keys.length > 0) this.#store.remove(keys).catch(() => {});
  }

  async #load(): Promise<void> {
    const items = await this.#store.get(null);
    for (const [key, value] of Object.entries(items)) {
      if (!key.startsWith(prefix) || !isSentWrite(value)) continue;
      this.#calls.set(key.slice(prefix.length), value);
      this.#size += value.outcome?.length ?? 0;
    }
    if (Array.isArray(items.frames)) this.#frames = items.frames.filter(isText);
    if (isText(items.epoch)) {
      this.#epoch = items.epoch;
      return;
    }
    this.#epoch = randomHex(16);
    await this.#store.set({ epoch: this.#epoch });
  }
}

// Outcomes that the relay has not acknowledged. They are sent again after every welcome; the relay ignores
// duplicates.

export class Outcomes {
  readonly #frames = new Map<string, { text: string; bridge: Bridge | undefined }>();
  readonly #records: Records;
  readonly #send: (text: string) => boolean;

  constructor(records: Records, send: (text: string) => boolean) {
    this.#records = records;
    this.#send = send;
  }

  /** Sends an outcome, and keeps it until it is acknowledged: here, and in the session store when it was a write. */
  add(id: string, text: string, bridge: Bridge | undefined): void {
    this.#frames.set(id, { text, bridge });
    this.#records.recordOutcome(id, text);
    this.#send(text);
  }

  get(id: string): string | undefined {
    return this.#frames.get(id)?.text ?? this.#records.get(id)?.outcome;
  }

  acknowledge(ids: readonly string[]): void {
    for (const id of ids) {
      this.#frames.get(id)?.bridge?.acknowledge(id);
      this.#frames.delete(id);
    }
    this.#records.forget(ids);
  }

  sendAgain(): void {
    for (const { text } of this.#frames.values()) this.#send(text);
    for (const [id, text] of this.#records.outcomes()) if (!this.#frames.has(id)) this.#send(text);
  }
}
