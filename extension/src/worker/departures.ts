// Documents that go away while they have a call: the tab was closed, or went to another page.
import type { Bridge } from './bridges.ts';
import type { Inflight, OpenCall } from './inflight.ts';

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
      if (call.frame.tabId === tabId && call.bridge?.gone) this.#end(call);
    }
  }

  /** The document of a call is going away. */
  left(call: OpenCall): void {
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
