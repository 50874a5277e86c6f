// Consoles that the relay reads. The lines are kept by the bridge of each document; here is only which tabs are
// captured and until when, so that the capture goes on in the next document of a tab.

import type { ConsoleFrame } from '../../protocol/frames.generated.ts';
import type { FromBridge } from '../../shared/bridge-messages.ts';
import { isNumber, isRecord } from '../../shared/guards.ts';
import type { Bridge, Bridges } from '../../worker/documents/bridges.ts';
import type { Injector } from '../../worker/documents/inject.ts';
import { answerMs, inTime, Unreadable } from '../../worker/documents/unreadable.ts';
import { randomHex } from '../../worker/util/random.ts';
import type { SessionStore } from '../../worker/util/store.ts';

interface Parts {
  bridges: Pick<Bridges, 'top'>;
  injector: Pick<Injector, 'ensureBridge'>;
  store: SessionStore;
  send(frame: ConsoleFrame): void;
}

type Lines = Extract<FromBridge, { type: 'consoleLines' }>;

const key = 'consoles';
const arrivalMs = 50; // for the bridge of a new document to connect by itself
const maxHoldMs = 60 * 60 * 1000;

export class Consoles {
  readonly #parts: Parts;
  readonly #until = new Map<number, number>(); // by tab
  readonly #waiting = new Map<string, (lines: Lines) => void>();

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.store.get(null).then((items) => {
      const kept = items[key];
      if (!isRecord(kept)) return;
      for (const [tabId, until] of Object.entries(kept))
        if (isNumber(until) && !this.#until.has(Number(tabId))) this.#until.set(Number(tabId), until);
    });
  }

  /** What the tab's console has shown since it is captured; the capture begins here, and lasts holdMs. */
  async read(tabId: number, holdMs: number): Promise<string> {
    const bridge = await inTime(this.#parts.injector.ensureBridge(tabId));
    this.#until.set(tabId, Date.now() + Math.min(holdMs, maxHoldMs));
    this.#save();
    const { url, since, lines, dropped } = await inTime(this.#ask(bridge));
    if (since === 0) {
      throw new Unreadable('INJECTION_FAILED', 'The console of this page cannot be seen: reload the tab');
    }
    return JSON.stringify({ url, since, lines, dropped });
  }

  hear(bridge: Bridge, message: FromBridge): void {
    if (message.type === 'consoleLines') {
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
    } else if (message.type === 'consoleGrew') this.#tell(bridge);
  }

  /** A bridge is ready: in a tab that is captured, its document is from now on. */
  ready(bridge: Bridge): void {
    if (bridge.frameId !== 0 || this.#left(bridge.tabId) === 0) return;
    this.#ask(bridge).then(() => this.#tell(bridge));
  }

  /** A document went away. The next one of its tab has a bridge by itself only where a plugin serves it. */
  gone(bridge: Bridge): void {
    if (bridge.frameId !== 0 || this.#left(bridge.tabId) === 0) return;
    setTimeout(() => {
      if (this.#parts.bridges.top(bridge.tabId) === undefined)
        this.#parts.injector.ensureBridge(bridge.tabId).catch(() => {}); // closed, or not ours to read
    }, arrivalMs);
  }

  removed(tabId: number): void {
    if (this.#until.delete(tabId)) this.#save();
  }

  #ask(bridge: Bridge): Promise<Lines> {
    const id = randomHex(8);
    bridge.send({ type: 'console', id, holdMs: this.#left(bridge.tabId) });
    setTimeout(() => this.#waiting.delete(id), answerMs);
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  #tell({ frameId, tabId }: Bridge): void {
    if (frameId === 0 && this.#left(tabId) > 0) this.#parts.send({ type: 'console', tabId });
  }

  #left(tabId: number): number {
    return Math.max((this.#until.get(tabId) ?? 0) - Date.now(), 0);
  }

  #save(): void {
    this.#parts.store.set({ [key]: Object.fromEntries(this.#until) }).catch(() => {}); // then it ends with this worker
  }
}
