// Answers the relay's question, after a reconnect, what became of its calls. Only what is proven is answered: by a
// bridge that has the call, by the record of the document it was sent to, or by that document's word that it never
// started.

import type { FromExtension } from '../../protocol/frames.generated.ts';
import type { OutcomeMessage } from '../../shared/bridge-messages.ts';
import type { Bridge, Bridges } from '../documents/bridges.ts';
import { outcomeText } from '../link/frames.ts';
import type { Inflight } from './inflight.ts';
import type { Invocations } from './invoke.ts';
import type { Outcomes, Records } from './records.ts';

interface Parts {
  bridges: Bridges;
  records: Records;
  outcomes: Outcomes;
  inflight: Inflight;
  invocations: Invocations;
  send(frame: FromExtension): void;
}

interface State {
  state: 'not_started' | 'running' | 'finished' | 'unknown';
  reason?: string;
}

const bridgeWaitMs = 1000; // for the bridge of the tab to come back after this worker started
const parkedMs = 30_000;

export class Recovery {
  readonly #parts: Parts;
  // Outcomes of calls without a record, which are reads of an earlier worker. The relay's question will name their
  // tab.
  readonly #parked = new Map<string, { bridge: Bridge; outcome: OutcomeMessage }>();
  readonly #answers = new Map<string, () => void>(); // queries a bridge has not answered

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /**
   * An outcome of a call that is not open. It counts if the call's record names that document; without one it is
   * parked.
   */
  handleUnknownOutcome(bridge: Bridge, outcome: OutcomeMessage): void {
    const { id } = outcome;
    const seen = this.#parts.records.get(id);
    if (seen === undefined) {
      this.#parked.set(id, { bridge, outcome });
      setTimeout(() => {
        if (this.#parked.delete(id)) bridge.acknowledge(id);
      }, parkedMs);
    } else if (
      seen.documentId === bridge.documentId &&
      seen.tabId === bridge.tabId &&
      seen.frameId === bridge.frameId
    ) {
      this.#deliver(bridge, outcome);
    }
  }

  /** A bridge's answer to a query. */
  handleQueryAnswer(id: string): void {
    this.#answers.get(id)?.();
  }

  async answer(calls: readonly { id: string; tabId: number }[]): Promise<void> {
    await this.#parts.records.loaded;
    await Promise.all(
      calls.map(async ({ id, tabId }) => {
        const state = await this.#stateOf(id, tabId);
        this.#parts.send({ type: 'state', id, ...state, epoch: this.#parts.records.epoch });
        const text = state.state === 'finished' ? this.#parts.outcomes.get(id) : undefined;
        if (text !== undefined) this.#parts.outcomes.add(id, text, undefined);
      }),
    );
  }

  async #stateOf(id: string, tabId: number): Promise<State> {
    const known = this.#knownState(id, tabId);
    if (known !== undefined) return known;
    const seen = this.#parts.records.get(id);
    const exists = await chrome.tabs.get(tabId).then(
      () => true,
      () => false,
    );
    // A worker before this one was doing it, and no document can say how far it got.
    if (seen?.documentId === '') return { state: 'unknown', ...(!exists && { reason: 'TAB_CLOSED' }) };
    if (!exists)
      return seen === undefined ? { state: 'not_started' } : { state: 'unknown', reason: 'TAB_CLOSED' };
    // A bridge that has the call reconnects without delay, and says so in its hello.
    const bridge = await this.#parts.bridges.when(
      (one) => one.tabId === tabId && (seen === undefined || one.documentId === seen.documentId),
      bridgeWaitMs,
    );
    const after = this.#knownState(id, tabId);
    if (after !== undefined) return after;
    if (seen === undefined) return { state: 'not_started' };
    if (bridge === undefined) return { state: 'unknown', reason: 'TAB_CHANGED' };
    return this.#query(bridge, id, tabId);
  }

  // The state that is known without asking: an open call, a stored or parked outcome, a bridge that runs the call.
  #knownState(id: string, tabId: number): State | undefined {
    const { inflight, outcomes, bridges } = this.#parts;
    if (inflight.get(id) !== undefined) return { state: 'running' };
    if (outcomes.get(id) !== undefined) return { state: 'finished' };
    const parked = this.#parked.get(id);
    if (parked?.bridge.tabId === tabId) {
      this.#parked.delete(id);
      this.#deliver(parked.bridge, parked.outcome);
      return { state: 'finished' };
    }
    const runner = bridges.of(tabId).find((bridge) => bridge.running.has(id));
    if (runner === undefined) return undefined;
    this.#adopt(id, runner);
    return { state: 'running' };
  }

  // Asks the document. If it answers that it never started the call, it never will.
  async #query(bridge: Bridge, id: string, tabId: number): Promise<State> {
    const answered = new Promise<boolean>((resolve) => {
      this.#answers.set(id, () => resolve(true));
      setTimeout(() => resolve(false), bridgeWaitMs);
    });
    bridge.send({ type: 'query', id });
    const heard = await answered;
    this.#answers.delete(id);
    return (
      this.#knownState(id, tabId) ??
      (heard ? { state: 'not_started' } : { state: 'unknown', reason: 'TAB_UNRESPONSIVE' })
    );
  }

  #adopt(id: string, bridge: Bridge): void {
    const write = this.#parts.records.get(id) !== undefined;
    this.#parts.invocations.adopt({ id, tabId: bridge.tabId, write, plugin: '', tool: '' }, bridge);
  }

  #deliver(bridge: Bridge, { id, ending, place }: OutcomeMessage): void {
    this.#parts.outcomes.add(id, outcomeText(id, ending, place, this.#parts.records.epoch), bridge);
  }
}
