// One call's life in the worker: find the document, give it the call, watch that it starts, pass on what it says.

import type { CallFrame, FromExtension } from '../../protocol/frames.generated.ts';
import type { Acting, FromBridge, OutcomeMessage } from '../../shared/bridge-messages.ts';
import type { Bridge, Bridges } from '../documents/bridges.ts';
import { type Addressee, bridgeOf, isElsewhere, orderOf, residentBridge } from '../documents/document.ts';
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
  standstill(tabId: number): string | undefined; // why nothing runs in a tab, if that is known
  acting(frame: OpenCall['frame']): Acting | undefined; // what the page is to show meanwhile
  send(frame: FromExtension): void;
}

/** A call on its way to its document. */
interface Delivery extends Addressee {
  call: OpenCall;
  frame: CallFrame;
  args: string;
}

const inWorker = ['browser', 'browser-dev']; // plugins whose calls are: no others can have these names
const lost = 'The page has no adapter with this tool any more; call again';
const confirmMs = 250; // for the document to say that it will not start it
const loadingTimes = 3; // as long for a page that loads: its own scripts come first

const unloaded = 'Chrome has put the tab to sleep, or it crashed; it must be loaded first';

export class Invocations {
  readonly #parts: Parts;
  /** Without `started` after this long a tab is unresponsive. */
  startMs = 4000;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Takes a call from the relay. */
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
    const still = this.#parts.standstill(frame.tabId);
    if (still !== undefined) {
      inflight.refuse(call, 'TAB_UNRESPONSIVE', still);
      return;
    }
    const plugin = plugins.version(frame.plugin, frame.hash);
    if (plugin) this.#accept({ call, frame, plugin, args, tabUrl: tab.url });
    else this.#await(call, frame, args, tab.url);
  }

  #accept(delivery: Delivery): void {
    const { write, tabId, plugin, tool } = delivery.frame;
    const ends = plugin === 'browser' && tool === 'close_tab'; // whatever still runs there
    if (write && !ends && this.#parts.inflight.occupied(tabId)) this.#queue(delivery);
    else this.#send(delivery);
  }

  // The relay knows a plugin a moment before its list is here.
  #await(call: OpenCall, frame: CallFrame, args: string, tabUrl: string): void {
    const { inflight, plugins } = this.#parts;
    plugins.coming(frame.plugin, frame.hash).then((plugin) => {
      if (inflight.get(frame.id) !== call) return; // cancelled meanwhile
      const message = `The extension does not have this version of ${frame.plugin} yet`;
      if (plugin === undefined) inflight.refuse(call, 'ADAPTER_NOT_READY', message);
      else this.#accept({ call, frame, plugin, args, tabUrl });
    });
  }

  /** Continues a call that the predecessor of this worker started. */
  adopt(frame: OpenCall['frame'], bridge: Bridge): void {
    if (!this.#parts.inflight.knows(frame.id)) this.#parts.inflight.admit(frame, bridge, 'started');
  }

  /** Ends the calls that a tab has not started when it is known that it will not. */
  standsStill(tabId: number): void {
    const still = this.#parts.standstill(tabId);
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

  /** A message about a call from a document; false when that document does not have the call. */
  hear(bridge: Bridge, message: FromBridge & { id: string }): boolean {
    const { inflight, toolRunner } = this.#parts;
    if (toolRunner.hear(bridge, message)) return true;
    const call = inflight.get(message.id);
    if (call?.bridge === bridge && !call.inWorker) {
      this.#follow(call, bridge, message);
      return true;
    }
    if (message.type === 'outcome') return inflight.finishLate(bridge, message.id, message);
    if ((message.type !== 'known' && message.type !== 'cancelled') || message.phase !== 'never') return false;
    // A page that was busy when its call was given up says now that it will never start it.
    const never = 'It never started';
    const refusal = { code: 'TAB_UNRESPONSIVE', message: never, outcome: 'not_executed' } as const;
    const ending = { status: 'refused', started: false, refusal } as const;
    return inflight.finishLate(bridge, message.id, { ending, place: { origin: '', durationMs: 0 } });
  }

  #follow(call: OpenCall, bridge: Bridge, message: FromBridge & { id: string }): void {
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
        inflight.refuse(call, 'ADAPTER_NOT_READY', lost, 'not_executed');
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
    const leaving = ending.status === 'refused' && ending.started && ending.refusal.code === 'TAB_CHANGED';
    if (leaving) this.#parts.departures.left(call);
    else this.#parts.inflight.finish(call, ending, place);
  }

  // An abandoned write of this tab may still change things: the next write waits a little, reads go on.
  #queue(delivery: Delivery): void {
    const { inflight } = this.#parts;
    const { call, frame } = delivery;
    inflight.whenFree(frame.tabId).then(({ free, givenUpMs }) => {
      if (inflight.get(frame.id) !== call) return;
      const since = `An earlier call, abandoned ${Math.round(givenUpMs / 1000)} s ago, still runs in this tab`;
      if (free) this.#send(delivery);
      else inflight.refuse(call, 'TAB_BUSY', since);
    });
  }

  #send(delivery: Delivery): void {
    const { call, frame, plugin, args } = delivery;
    if (inWorker.includes(plugin.name)) {
      call.inWorker = true;
      this.#parts.toolRunner.begin(call, frame, plugin, args);
      return;
    }
    this.#watch(delivery.call);
    const bridge = residentBridge(this.#parts.bridges, delivery);
    if (bridge?.has(delivery.plugin)) this.#admit(delivery, bridge);
    else this.#prepare(delivery, bridge);
  }

  #prepare(delivery: Delivery, resident: Bridge | undefined): void {
    const { bridges, injector, inflight } = this.#parts;
    const { call, plugin } = delivery;
    const ready = async () => {
      const bridge = resident ?? (await bridgeOf(bridges, injector, delivery));
      await injector.adapter(bridge, plugin);
      return bridge;
    };
    ready().then(
      (bridge) => this.#admit(delivery, bridge),
      (why: unknown) => {
        if (why instanceof Refused && why.code !== 'INJECTION_FAILED')
          inflight.refuse(call, why.code, why.message);
        else this.#refuseUnprepared(delivery, why);
      },
    );
  }

  // Right after a crash Chrome refuses the page as one that the extension may not enter. How the tab is tells them
  // apart.
  async #refuseUnprepared({ call, frame }: Delivery, why: unknown): Promise<void> {
    const { inflight, tabs } = this.#parts;
    await tabs.look(frame.tabId);
    if (tabs.get(frame.tabId)?.discarded) inflight.refuse(call, 'TAB_UNRESPONSIVE', unloaded);
    else if (why instanceof Refused) inflight.refuse(call, why.code, why.message);
    else inflight.refuse(call, 'INJECTION_FAILED', `The page could not be prepared: ${String(why)}`);
  }

  // A frame of the plugin's site, in a page of another one: either may be closed to the call.
  #admit(delivery: Delivery, bridge: Bridge): void {
    const { call, frame, plugin } = delivery;
    if (bridge.frameId === 0) {
      this.#record(delivery, bridge);
      return;
    }
    const { toolRunner, inflight } = this.#parts;
    toolRunner.closedFor(frame, plugin, bridge).then(
      (closed) => {
        if (closed === undefined) this.#record(delivery, bridge);
        else
          inflight.finish(call, toolRunner.closedBy(frame, false, closed).ending, {
            origin: '',
            durationMs: 0,
          });
      },
      (why: unknown) => this.#refuseUnprepared(delivery, why),
    );
  }

  #record(delivery: Delivery, bridge: Bridge): void {
    const { call, frame } = delivery;
    if (!frame.write) {
      this.#give(delivery, bridge);
      return;
    }
    const { tabId, documentId, frameId } = bridge;
    const { records, inflight } = this.#parts;
    records.seen(frame.id, { tabId, documentId, frameId }).then(
      () => this.#give(delivery, bridge),
      (why: unknown) =>
        inflight.refuse(call, 'INJECTION_FAILED', `The call could not be recorded: ${String(why)}`),
    );
  }

  #give({ call, frame, plugin, args }: Delivery, bridge: Bridge): void {
    const { inflight, acting } = this.#parts;
    if (inflight.get(frame.id) !== call) return; // ended while it was prepared
    if (bridge.gone || isElsewhere(frame, (this.#parts.bridges.top(frame.tabId) ?? bridge).url)) {
      inflight.refuse(call, 'TAB_CHANGED', 'The tab went to another page before the tool started');
      return;
    }
    call.bridge = bridge;
    call.phase = 'sent';
    const order = orderOf(frame, plugin, args);
    const { consoleTailBytes: tailBytes } = frame;
    bridge.send({ type: 'call', order, sentAt: Date.now(), tailBytes, acting: acting(frame) });
  }

  // A page that is slow is not one that is dead, and nothing tells them apart but time, save what is known: a page that
  // loads has longer, and one that stands still is not waited for (standsStill).
  #watch(call: OpenCall, waited = 0): void {
    const { inflight, tabs } = this.#parts;
    const giveUp = (message: string) => inflight.refuse(call, 'TAB_UNRESPONSIVE', message);
    call.timer = setTimeout(() => {
      const ms = waited + this.startMs;
      if (ms < loadingTimes * this.startMs && tabs.get(call.frame.tabId)?.status === 'loading')
        return this.#watch(call, ms);
      const inTime = `within ${ms / 1000} s`;
      if (call.bridge === undefined) return giveUp(`The page did not let the extension in ${inTime}`);
      call.bridge.send({ type: 'query', id: call.frame.id });
      const message = `The page did not start the tool ${inTime}: it is busy or hangs`;
      call.timer = setTimeout(() => giveUp(message), confirmMs);
    }, this.startMs);
  }
}
