// The calls in flight. They change here and nowhere else, and every end goes through finish.

import type { CallFrame } from '../../protocol/frames.generated.ts';
import type { OutcomeMessage, Place } from '../../shared/bridge-messages.ts';
import type { Ending, Outcome, RefusalCode } from '../../shared/order.ts';
import type { Bridge } from '../documents/bridges.ts';
import { outcomeText } from '../link/frames.ts';
import { elapsedMs } from '../util/clock.ts';
import type { Outcomes, Records } from './records.ts';

export interface OpenCall {
  readonly frame: Pick<CallFrame, 'id' | 'tabId' | 'write' | 'plugin' | 'tool' | 'client' | 'title'>;
  bridge: Bridge | undefined; // the document that has it
  phase: 'preparing' | 'sent' | 'started';
  timer: ReturnType<typeof setTimeout> | undefined; // of whatever it waits for
  tabClosed: boolean;
  inWorker: boolean; // it outlives its documents (tool-runner.ts)
  readonly beganAt: number;
}

/** Who wants to know about calls: the panel's list, and the marks on tabs. */
export interface CallListener {
  began(call: OpenCall): void;
  ended(call: OpenCall, ending: Ending): void;
}

// A call that ended without its handler: its own end may still come, from this bridge only. Until then a write
// occupies its tab.
interface Abandoned {
  call: OpenCall;
  bridge: Bridge;
  at: number;
}

const graceMs = 2000;

export class Inflight {
  readonly #open = new Map<string, OpenCall>();
  readonly #abandoned = new Map<string, Abandoned>();
  readonly #waiters = new Set<() => void>(); // for a tab to become free
  readonly #outcomes: Outcomes;
  readonly #records: Records;
  readonly #listeners: readonly CallListener[];

  constructor(outcomes: Outcomes, records: Records, ...listeners: CallListener[]) {
    this.#outcomes = outcomes;
    this.#records = records;
    this.#listeners = listeners;
  }

  get size(): number {
    return this.#open.size;
  }

  get(id: string): OpenCall | undefined {
    return this.#open.get(id);
  }

  all(): Iterable<OpenCall> {
    return this.#open.values();
  }

  /** Whether a call is open or its outcome not acknowledged yet: it must not begin again. */
  knows(id: string): boolean {
    return this.#open.has(id) || this.#abandoned.has(id) || this.#outcomes.get(id) !== undefined;
  }

  admit(frame: OpenCall['frame'], bridge: Bridge | undefined, phase: OpenCall['phase']): OpenCall {
    const call: OpenCall = {
      frame,
      bridge,
      phase,
      timer: undefined,
      tabClosed: false,
      inWorker: false,
      beganAt: elapsedMs(),
    };
    this.#open.set(frame.id, call);
    for (const listener of this.#listeners) listener.began(call);
    return call;
  }

  /** Ends a call that its document did not end. What was sent to a document counts as possibly started. */
  refuse(
    call: OpenCall,
    code: RefusalCode,
    message: string,
    outcome: Outcome = call.phase === 'preparing' ? 'not_executed' : 'unknown',
  ): void {
    const started = call.phase === 'started';
    this.finish(call, { status: 'refused', started, refusal: { code, message, outcome } });
  }

  finish(call: OpenCall, ending: Ending, place?: Place): void {
    const { id } = call.frame;
    if (!this.#open.delete(id)) return;
    clearTimeout(call.timer);
    if (ending.status === 'refused' && ending.refusal.outcome === 'unknown' && call.bridge?.gone === false) {
      this.#abandoned.set(id, { call, bridge: call.bridge, at: elapsedMs() });
    }
    const where = place ?? { origin: '', durationMs: elapsedMs() - call.beganAt };
    this.#outcomes.add(id, outcomeText(id, ending, where, this.#records.epoch), call.bridge);
    for (const listener of this.#listeners) listener.ended(call, ending);
  }

  /** The handler's own end after the call had ended without it; false when bridge has no such call. */
  finishLate(
    bridge: Bridge,
    id: string,
    { ending, place }: Pick<OutcomeMessage, 'ending' | 'place'>,
  ): boolean {
    if (this.#abandoned.get(id)?.bridge !== bridge) return false;
    this.#abandoned.delete(id);
    this.#outcomes.add(id, outcomeText(id, ending, place, this.#records.epoch), bridge);
    this.#release();
    return true;
  }

  /** A document ended, and with it every handler that ran there. */
  forget(bridge: Bridge): void {
    for (const [id, abandoned] of this.#abandoned)
      if (abandoned.bridge === bridge) this.#abandoned.delete(id);
    this.#release();
  }

  /** Whether an abandoned write still runs in a tab. */
  occupied(tabId: number): boolean {
    return this.#occupant(tabId) !== undefined;
  }

  /**
   * Waits until no abandoned write runs in a tab; it is not free when that takes longer than the grace since the write
   * was given up, which then was so long ago.
   */
  async whenFree(tabId: number): Promise<{ free: boolean; givenUpMs: number }> {
    for (;;) {
      const occupant = this.#occupant(tabId);
      if (occupant === undefined) return { free: true, givenUpMs: 0 };
      const givenUpMs = elapsedMs() - occupant.at;
      const left = graceMs - givenUpMs;
      if (left <= 0) return { free: false, givenUpMs };
      await new Promise<void>((resolve) => {
        this.#waiters.add(resolve);
        setTimeout(resolve, left);
      });
    }
  }

  #occupant(tabId: number): Abandoned | undefined {
    for (const one of this.#abandoned.values()) {
      if (one.call.frame.write && one.call.frame.tabId === tabId) return one;
    }
    return undefined;
  }

  #release(): void {
    for (const wake of this.#waiters) wake();
    this.#waiters.clear();
  }
}

// Documents that go away while they have a call: the tab was closed, or went to another page.

const patienceMs = 100; // after a document went away, for Chrome to say what became of its tab

export class Departures {
  readonly #inflight: Inflight;

  constructor(inflight: Inflight) {
    this.#inflight = inflight;
  }

  /** The port of a document closed; Chrome may say in a moment that the whole tab is gone. */
  bridgeGone(bridge: Bridge): void {
    for (const call of this.#inflight.all()) if (call.bridge === bridge) this.left(call);
    this.#inflight.forget(bridge);
  }

  /** A tab is closed. What its document said last may still be on its way, until its port closes. */
  tabRemoved(tabId: number): void {
    for (const call of this.#inflight.all()) {
      if (call.frame.tabId !== tabId) continue;
      call.tabClosed = true;
      this.left(call);
    }
  }

  /** A new document loads in a tab: calls whose document went away need not wait for more. */
  tabLoading(tabId: number): void {
    for (const call of this.#inflight.all()) {
      if (call.frame.tabId === tabId && call.bridge?.gone && !call.inWorker) this.#end(call);
    }
  }

  /** The document of a call is going away. */
  left(call: OpenCall): void {
    if (call.inWorker) return;
    clearTimeout(call.timer);
    if (call.tabClosed && (call.bridge === undefined || call.bridge.gone)) this.#end(call);
    else call.timer = setTimeout(() => this.#end(call), patienceMs);
  }

  #end(call: OpenCall): void {
    // What the document was given counts as possibly started: a port that closes can lose what was said last.
    if (call.tabClosed) this.#inflight.refuse(call, 'TAB_CLOSED', 'The tab was closed');
    else this.#inflight.refuse(call, 'TAB_CHANGED', 'The tab went to another page');
  }
}
