// The calls in flight. Only this file changes them, and every call ends through finish.

import type { CallFrame } from '../../protocol/frames.generated.ts';
import type { OutcomeMessage, Place } from '../../shared/bridge-messages.ts';
import type { Ending, Outcome, RefusalCode } from '../../shared/order.ts';
import type { Bridge } from '../documents/bridges.ts';
import { outcomeText } from '../link/frames.ts';
import { elapsedMs } from '../util/clock.ts';
import type { Outcomes, Records } from './records.ts';
import { Times } from './times.ts';

export interface OpenCall {
  readonly frame: Pick<
    CallFrame,
    'id' | 'tabId' | 'write' | 'plugin' | 'tool' | 'client' | 'title' | 'timed'
  >;
  bridge: Bridge | undefined; // of the document that was sent the call
  phase: 'preparing' | 'sent' | 'started';
  timer: ReturnType<typeof setTimeout> | undefined; // ends the present wait
  tabClosed: boolean;
  inWorker: boolean; // it runs here and outlives its documents (tool-runner.ts)
  readonly parts: Map<string, Bridge>; // of one that runs here: sent to documents, and not ended there, by id
  readonly beganAt: number;
  readonly times: Times | undefined; // where the relay has asked for them
}

/** Is notified of calls: the marks on tabs. */
export interface CallListener {
  began(call: OpenCall): void;
  ended(call: OpenCall, ending: Ending): void;
}

// What may still run of a call that was refused: the call itself, or a part of one that runs in the worker. Only this
// bridge can send its outcome. Until then a write blocks further writes in its tab.
interface Abandoned {
  call: OpenCall;
  bridge: Bridge;
  at: number;
}

const graceMs = 2000;

export class Inflight {
  readonly #open = new Map<string, OpenCall>();
  readonly #abandoned = new Map<string, Abandoned>(); // by the id that the document has
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

  /** Whether a call is open or its outcome not acknowledged yet: then it must not be started again. */
  knows(id: string): boolean {
    const isAbandoned = Array.from(this.#abandoned.values()).some(({ call }) => call.frame.id === id);
    return this.#open.has(id) || isAbandoned || this.#outcomes.get(id) !== undefined;
  }

  admit(frame: OpenCall['frame'], bridge: Bridge | undefined, phase: OpenCall['phase']): OpenCall {
    const call: OpenCall = {
      frame,
      bridge,
      phase,
      timer: undefined,
      tabClosed: false,
      inWorker: false,
      parts: new Map(),
      beganAt: elapsedMs(),
      times: frame.timed === true ? new Times() : undefined,
    };
    this.#open.set(frame.id, call);
    for (const listener of this.#listeners) listener.began(call);
    return call;
  }

  /** Ends a call without an outcome of its document. By default one that was sent to a document may have started. */
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
    if (ending.status === 'refused' && ending.refusal.outcome === 'unknown')
      for (const [running, bridge] of call.inWorker ? call.parts : [[id, call.bridge] as const])
        if (bridge?.gone === false) this.#abandoned.set(running, { call, bridge, at: elapsedMs() });
    const where = place ?? { origin: '', durationMs: elapsedMs() - call.beganAt };
    this.#outcomes.add(
      id,
      outcomeText(id, ending, where, this.#records.epoch, call.times?.sent()),
      call.bridge,
    );
    for (const listener of this.#listeners) listener.ended(call, ending);
  }

  /** Takes the outcome of what was abandoned; false: the bridge has nothing of that id. */
  finishLate(
    bridge: Bridge,
    id: string,
    { ending, place }: Pick<OutcomeMessage, 'ending' | 'place'>,
  ): boolean {
    const abandoned = this.#abandoned.get(id);
    if (abandoned?.bridge !== bridge) return this.#partEnded(bridge, id);
    this.#abandoned.delete(id);
    if (id !== abandoned.call.frame.id) bridge.acknowledge(id);
    else this.#outcomes.add(id, outcomeText(id, ending, place, this.#records.epoch), bridge);
    this.#release();
    return true;
  }

  // A part that its call no longer waits for has ended while the call goes on.
  #partEnded(bridge: Bridge, id: string): boolean {
    const call = Array.from(this.#open.values()).find(({ parts }) => parts.get(id) === bridge);
    if (call === undefined) return false;
    bridge.acknowledge(id);
    return call.parts.delete(id);
  }

  /** Forgets the abandoned calls of a document that is gone. */
  documentGone(bridge: Bridge): void {
    for (const [id, abandoned] of this.#abandoned)
      if (abandoned.bridge === bridge) this.#abandoned.delete(id);
    this.#release();
  }

  /** Whether an abandoned write still runs in a tab. */
  hasAbandonedWrite(tabId: number): boolean {
    return this.#abandonedWrite(tabId) !== undefined;
  }

  /**
   * Waits until no abandoned write runs in a tab. free is false when graceMs have passed since the write was given
   * up, givenUpMs ago.
   */
  async whenNoAbandonedWrite(tabId: number): Promise<{ free: boolean; givenUpMs: number }> {
    for (;;) {
      const occupant = this.#abandonedWrite(tabId);
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

  #abandonedWrite(tabId: number): Abandoned | undefined {
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

// Ends calls whose document goes away, because the tab was closed or went to another page.

const tabEventMs = 100; // after a document went away, for Chrome to say what became of its tab

export class Departures {
  readonly #inflight: Inflight;

  constructor(inflight: Inflight) {
    this.#inflight = inflight;
  }

  /** The port of a document has closed; Chrome may report in a moment that the whole tab is gone. */
  bridgeGone(bridge: Bridge): void {
    for (const call of this.#inflight.all()) if (call.bridge === bridge) this.documentLeft(call);
    this.#inflight.documentGone(bridge);
  }

  /** A tab was closed. Messages of its document may still arrive until its port closes. */
  tabRemoved(tabId: number): void {
    for (const call of this.#inflight.all()) {
      if (call.frame.tabId !== tabId) continue;
      call.tabClosed = true;
      this.documentLeft(call);
    }
  }

  /** A new document loads in a tab: calls whose document is gone end at once. */
  tabLoading(tabId: number): void {
    for (const call of this.#inflight.all()) {
      if (call.frame.tabId === tabId && call.bridge?.gone && !call.inWorker) this.#end(call);
    }
  }

  /** The document of a call is going away. */
  documentLeft(call: OpenCall): void {
    if (call.inWorker) return;
    clearTimeout(call.timer);
    if (call.tabClosed && (call.bridge === undefined || call.bridge.gone)) this.#end(call);
    else call.timer = setTimeout(() => this.#end(call), tabEventMs);
  }

  #end(call: OpenCall): void {
    // A call that was sent to the document may have started: a port that closes can lose the last messages.
    if (call.tabClosed) this.#inflight.refuse(call, 'TAB_CLOSED', 'The tab was closed');
    else this.#inflight.refuse(call, 'TAB_CHANGED', 'The tab went to another page');
  }
}
