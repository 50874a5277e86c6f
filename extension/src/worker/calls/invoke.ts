// Carries out calls of plugins' tools: finds the document, injects what is missing, sends it the call, watches that
// it starts, and forwards its messages to the relay. Calls of the browser's own tools go to tool-runner.ts.

import type { CallFrame, FromExtension } from '../../protocol/frames.generated.ts';
import type { Acting, FromBridge, OutcomeMessage } from '../../shared/bridge-messages.ts';
import type { Bridge, Bridges } from '../documents/bridges.ts';
import {
  bridgeOf,
  type CallTarget,
  isOfOtherOrigin,
  orderOf,
  residentBridge,
} from '../documents/document.ts';
import { type Injector, Refused } from '../documents/inject.ts';
import type { Plugins } from '../documents/plugins.ts';
import { logFrame, progressFrame, startedFrame } from '../link/frames.ts';
import type { Tabs } from '../tabs/tabs.ts';
import type { Departures, Inflight, OpenCall } from './inflight.ts';
import type { Records } from './records.ts';
import type { ToolRunner } from './tool-runner.ts';

interface Parts {
  tabs: Tabs;
  plugins: Plugins;
  bridges: Bridges;
  injector: Injector;
  records: Records;
  inflight: Inflight;
  departures: Departures;
  toolRunner: ToolRunner;
  whyBlocked(tabId: number): string | undefined; // why nothing runs in a tab, if that is known
  acting(frame: OpenCall['frame']): Acting | undefined; // what the page is to show meanwhile
  send(frame: FromExtension): void;
}

/** A call on its way to its document. */
interface Delivery extends CallTarget {
  call: OpenCall;
  frame: CallFrame;
  args: string;
}

const inWorker = ['browser', 'browser-dev']; // plugins whose tools run in the worker; these names are reserved
const adapterMissing = 'The page has no adapter with this tool any more; call again';
const confirmMs = 250; // for the document to confirm that it will not start the call
const loadingTimes = 3; // a loading page has this many times as long to start a call: its own scripts run first

const unloaded = 'Chrome has put the tab to sleep, or it crashed; it must be loaded first';

export class Invocations {
  readonly #parts: Parts;
  /** Without `started` after this long a tab is unresponsive. */
  startMs = 4000;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Handles a call frame of the relay. */
  start(frame: CallFrame, args: string): void {
    const { inflight, tabs, plugins } = this.#parts;
    if (inflight.knows(frame.id)) return;
    const call = inflight.admit(frame, undefined, 'preparing');
    const tab = tabs.get(frame.tabId);
    if (tab === undefined) {
      inflight.refuse(call, 'TAB_NOT_FOUND', 'There is no such tab with a web page');
      return;
    }
    if (tab.discarded) {
      inflight.refuse(call, 'TAB_UNRESPONSIVE', unloaded);
      return;
    }
    const still = this.#parts.whyBlocked(frame.tabId);
    if (still !== undefined) {
      inflight.refuse(call, 'TAB_UNRESPONSIVE', still);
      return;
    }
    const plugin = plugins.version(frame.plugin, frame.hash);
    if (plugin) this.#dispatch({ call, frame, plugin, args, tabUrl: tab.url });
    else this.#awaitPlugin(call, frame, args, tab.url);
  }

  #dispatch(delivery: Delivery): void {
    const { write, tabId, plugin, tool } = delivery.frame;
    const ends = plugin === 'browser' && tool === 'close_tab'; // need not wait for what it ends
    if (write && !ends && this.#parts.inflight.hasAbandonedWrite(tabId)) this.#awaitTurn(delivery);
    else this.#deliver(delivery);
  }

  // A call can arrive before the list of plugins that names its version.
  #awaitPlugin(call: OpenCall, frame: CallFrame, args: string, tabUrl: string): void {
    const { inflight, plugins } = this.#parts;
    plugins.awaitVersion(frame.plugin, frame.hash).then((plugin) => {
      if (inflight.get(frame.id) !== call) return; // cancelled meanwhile
      const message = `The extension does not have this version of ${frame.plugin} yet`;
      if (plugin === undefined) inflight.refuse(call, 'ADAPTER_NOT_READY', message);
      else this.#dispatch({ call, frame, plugin, args, tabUrl });
    });
  }

  /** Continues a call that the predecessor of this worker started. */
  adopt(frame: OpenCall['frame'], bridge: Bridge): void {
    if (!this.#parts.inflight.knows(frame.id)) this.#parts.inflight.admit(frame, bridge, 'started');
  }

  /** Refuses the calls that have not started in a tab, if the tab is blocked. */
  refuseBlocked(tabId: number): void {
    const still = this.#parts.whyBlocked(tabId);
    if (still === undefined) return;
    for (const call of this.#parts.inflight.all())
      if (call.frame.tabId === tabId && call.phase !== 'started')
        this.#parts.inflight.refuse(call, 'TAB_UNRESPONSIVE', still);
  }

  cancel(id: string): void {
    const { inflight } = this.#parts;
    const call = inflight.get(id);
    if (call === undefined || this.#parts.toolRunner.cancel(id)) return;
    if (call.bridge === undefined) {
      inflight.refuse(call, 'CANCELLED', 'The call was cancelled');
      return;
    }
    call.bridge.send({ type: 'cancel', id });
    clearTimeout(call.timer);
    const message = 'The call was cancelled; its page is busy';
    call.timer = setTimeout(() => inflight.refuse(call, 'CANCELLED', message), confirmMs);
  }

  /** Handles a document's message about a call; false: the document does not have that call. */
  handleMessage(bridge: Bridge, message: FromBridge & { id: string }): boolean {
    const { inflight, toolRunner } = this.#parts;
    if (toolRunner.hear(bridge, message)) return true;
    const call = inflight.get(message.id);
    if (call?.bridge === bridge && !call.inWorker) {
      this.#handleMessage(call, bridge, message);
      return true;
    }
    if (message.type === 'outcome') return inflight.finishLate(bridge, message.id, message);
    if ((message.type !== 'known' && message.type !== 'cancelled') || message.phase !== 'never') return false;
    // A page that was busy when its call was given up confirms now that it will never start it.
    const never = 'It never started';
    const refusal = { code: 'TAB_UNRESPONSIVE', message: never, outcome: 'not_executed' } as const;
    const ending = { status: 'refused', started: false, refusal } as const;
    return inflight.finishLate(bridge, message.id, { ending, place: { origin: '', durationMs: 0 } });
  }

  #handleMessage(call: OpenCall, bridge: Bridge, message: FromBridge & { id: string }): void {
    const { inflight, send } = this.#parts;
    const { id } = message;
    switch (message.type) {
      case 'waiting':
        clearTimeout(call.timer);
        return;
      case 'started':
        clearTimeout(call.timer);
        call.phase = 'started';
        send(startedFrame(id, bridge.documentId, message));
        return;
      case 'progress':
        send(progressFrame(id, message));
        return;
      case 'log':
        send(logFrame(id, message.line));
        return;
      case 'stale':
        bridge.send({ type: 'go', id });
        return;
      case 'missing':
        inflight.refuse(call, 'ADAPTER_NOT_READY', adapterMissing, 'not_executed');
        return;
      case 'cancelled':
        if (message.phase === 'never')
          inflight.refuse(call, 'CANCELLED', 'The call was cancelled', 'not_executed');
        return;
      case 'known':
        if (message.phase !== 'never') clearTimeout(call.timer);
        else
          inflight.refuse(call, 'TAB_UNRESPONSIVE', 'The page did not take the call in time', 'not_executed');
        return;
      case 'outcome':
        this.#end(call, message);
        return;
    }
  }

  #end(call: OpenCall, { ending, place }: OutcomeMessage): void {
    call.times?.answered(call.frame.id, place);
    const leaving = ending.status === 'refused' && ending.started && ending.refusal.code === 'TAB_CHANGED';
    if (leaving) this.#parts.departures.documentLeft(call);
    else this.#parts.inflight.finish(call, ending, place);
  }

  // An abandoned write may still change the page: the next write in the tab waits a little for it, reads do not.
  #awaitTurn(delivery: Delivery): void {
    const { inflight } = this.#parts;
    const { call, frame } = delivery;
    inflight.whenNoAbandonedWrite(frame.tabId).then(({ free, givenUpMs }) => {
      if (inflight.get(frame.id) !== call) return;
      const since = `An earlier call, abandoned ${Math.round(givenUpMs / 1000)} s ago, still runs in this tab`;
      if (free) this.#deliver(delivery);
      else inflight.refuse(call, 'TAB_BUSY', since);
    });
  }

  #deliver(delivery: Delivery): void {
    const { call, frame, plugin, args } = delivery;
    if (inWorker.includes(plugin.name)) {
      call.inWorker = true;
      this.#parts.toolRunner.begin(call, frame, plugin, args);
      return;
    }
    this.#watchStart(delivery.call);
    const bridge = residentBridge(this.#parts.bridges, delivery);
    if (bridge?.has(delivery.plugin)) this.#checkFrame(delivery, bridge);
    else this.#prepare(delivery, bridge);
  }

  #prepare(delivery: Delivery, resident: Bridge | undefined): void {
    const { bridges, injector, inflight } = this.#parts;
    const { call, plugin } = delivery;
    const ready = async () => {
      const bridge = resident ?? (await bridgeOf(bridges, injector, delivery));
      await injector.ensureAdapter(bridge, plugin);
      return bridge;
    };
    ready().then(
      (bridge) => this.#checkFrame(delivery, bridge),
      (why: unknown) => {
        if (why instanceof Refused && why.code !== 'INJECTION_FAILED')
          inflight.refuse(call, why.code, why.message);
        else this.#refuseUnprepared(delivery, why);
      },
    );
  }

  // Right after a crash Chrome refuses to inject as if the extension had no access; the state of the tab tells.
  async #refuseUnprepared({ call, frame }: Delivery, why: unknown): Promise<void> {
    const { inflight, tabs } = this.#parts;
    await tabs.look(frame.tabId);
    if (tabs.get(frame.tabId)?.discarded) inflight.refuse(call, 'TAB_UNRESPONSIVE', unloaded);
    else if (why instanceof Refused) inflight.finish(call, why.ending);
    else inflight.refuse(call, 'INJECTION_FAILED', `The page could not be prepared: ${String(why)}`);
  }

  // A call to a frame needs access to the frame's site and to those of the documents around it.
  #checkFrame(delivery: Delivery, bridge: Bridge): void {
    const { call, frame, plugin } = delivery;
    call.times?.mark('prepared');
    if (bridge.frameId === 0) {
      this.#recordWrite(delivery, bridge);
      return;
    }
    const { toolRunner, inflight } = this.#parts;
    toolRunner.closedFor(frame, plugin, bridge).then(
      (closed) => {
        if (closed === undefined) this.#recordWrite(delivery, bridge);
        else
          inflight.finish(call, toolRunner.closedBy(frame, false, closed).ending, {
            origin: '',
            durationMs: 0,
          });
      },
      (why: unknown) => this.#refuseUnprepared(delivery, why),
    );
  }

  #recordWrite(delivery: Delivery, bridge: Bridge): void {
    const { call, frame } = delivery;
    if (!frame.write) {
      this.#sendToDocument(delivery, bridge);
      return;
    }
    const { tabId, documentId, frameId } = bridge;
    const { records, inflight } = this.#parts;
    records.recordSent(frame.id, { tabId, documentId, frameId }).then(
      () => {
        call.times?.mark('recorded');
        this.#sendToDocument(delivery, bridge);
      },
      (why: unknown) =>
        inflight.refuse(call, 'INJECTION_FAILED', `The call could not be recorded: ${String(why)}`),
    );
  }

  #sendToDocument({ call, frame, plugin, args }: Delivery, bridge: Bridge): void {
    const { inflight, acting } = this.#parts;
    if (inflight.get(frame.id) !== call) return; // ended while it was prepared
    if (bridge.gone || isOfOtherOrigin(frame, (this.#parts.bridges.top(frame.tabId) ?? bridge).url)) {
      inflight.refuse(call, 'TAB_CHANGED', 'The tab went to another page before the tool started');
      return;
    }
    call.bridge = bridge;
    call.phase = 'sent';
    const order = orderOf(frame, plugin, args);
    const { consoleTailBytes: tailBytes } = frame;
    call.times?.asked(frame.id);
    bridge.send({ type: 'call', order, sentAt: Date.now(), tailBytes, acting: acting(frame) });
  }

  // Refuses a call that its page does not start in time. A page that loads has longer; a blocked one is not waited
  // for (refuseBlocked).
  #watchStart(call: OpenCall, waited = 0): void {
    const { inflight, tabs } = this.#parts;
    const giveUp = (message: string) => inflight.refuse(call, 'TAB_UNRESPONSIVE', message);
    call.timer = setTimeout(() => {
      const ms = waited + this.startMs;
      if (ms < loadingTimes * this.startMs && tabs.get(call.frame.tabId)?.status === 'loading')
        return this.#watchStart(call, ms);
      const inTime = `within ${ms / 1000} s`;
      if (call.bridge === undefined) return giveUp(`The page did not let the extension in ${inTime}`);
      call.bridge.send({ type: 'query', id: call.frame.id });
      const message = `The page did not start the tool ${inTime}: it is busy or hangs`;
      call.timer = setTimeout(() => giveUp(message), confirmMs);
    }, this.startMs);
  }
}
