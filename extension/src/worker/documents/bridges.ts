// The bridges that are connected. A bridge is identified by what Chrome says about its port's sender: tab, document
// and frame. A message about a call counts only if it comes from the bridge that was sent the call.

import type { PluginInfo } from '../../protocol/frames.generated.ts';
import { type FromBridge, isFromBridge, type ToBridge } from '../../shared/bridge-messages.ts';
import { whenDisconnected } from '../../shared/ports.ts';

/** An adapter in a document. */
interface Registered {
  hash: string;
  main: boolean;
  unloaded?: boolean; // only calls that were on their way may still use it
}

export class Bridge {
  readonly tabId: number;
  readonly documentId: string;
  readonly frameId: number;
  readonly origin: string; // also of a document without an address of its own
  url: string;
  late = false;
  ready = false; // it has sent hello, and received the answer
  gone = false;
  addressless = false; // its document has no http address, such as about:srcdoc
  dialog: string | undefined; // that the page shows: nothing runs in it, this bridge included
  readonly plugins = new Map<string, Registered>(); // by name
  readonly running = new Set<string>(); // calls it had when it connected
  readonly #port: chrome.runtime.Port;
  #acknowledged: string[] = [];
  readonly #lateWaiters: (() => void)[] = [];

  constructor(port: chrome.runtime.Port, tabId: number, documentId: string, frameId: number) {
    this.#port = port;
    this.tabId = tabId;
    this.documentId = documentId;
    this.frameId = frameId;
    this.url = port.sender?.url ?? '';
    this.origin = port.sender?.origin ?? '';
  }

  /** Sets the address that a document reports, unless its origin differs: that cannot change while a port is open. */
  updateUrl(url: string): void {
    if (URL.canParse(url) && URL.canParse(this.url) && new URL(url).origin === new URL(this.url).origin)
      this.url = url;
  }

  send(message: ToBridge): void {
    if (!this.gone) this.#port.postMessage(message);
  }

  close(): void {
    this.#port.disconnect();
  }

  /** Acknowledges an outcome, in a batch, so that the bridge forgets it. */
  acknowledge(id: string): void {
    if (this.#acknowledged.push(id) === 1) setTimeout(() => this.#flush(), 100);
    else if (this.#acknowledged.length >= 64) this.#flush();
  }

  /**
   * Tells the bridge that an adapter (or, with no name, the console tap) is about to be injected late. Of a document
   * that is gone nothing is waited for: the injection says so. event: that a user script brings its port with.
   */
  async expectLate(plugin: string, event?: string): Promise<void> {
    if (this.gone) return;
    this.send({ type: 'late', plugin, ...(event !== undefined && { event }) });
    await new Promise<void>((resolve) => this.#lateWaiters.push(resolve));
  }

  lateReady(): void {
    this.#lateWaiters.shift()?.();
  }

  markGone(): void {
    this.gone = true;
    for (const resolve of this.#lateWaiters.splice(0)) resolve();
  }

  /** Whether the document has a plugin's adapter, of this hash and in its own world. */
  has({ name, hash, world }: Pick<PluginInfo, 'name' | 'hash' | 'world'>): boolean {
    const adapter = this.plugins.get(name);
    return adapter?.hash === hash && adapter.main === (world === 'main');
  }

  /** Unloads the adapters that are not of the installed version of their plugin, whose hash hashOf returns. */
  unloadOutdated(hashOf: (plugin: string) => string | undefined): void {
    for (const [plugin, adapter] of this.plugins) {
      const { hash, unloaded = false } = adapter;
      if (hashOf(plugin) !== hash) {
        if (!unloaded) this.send({ type: 'unload', plugin, hash });
        adapter.unloaded = true;
      } else if (unloaded) this.plugins.delete(plugin); // installed again: the next call injects it anew
    }
  }

  #flush(): void {
    const ids = this.#acknowledged;
    this.#acknowledged = [];
    if (ids.length > 0) this.send({ type: 'ack', ids });
  }
}

export interface BridgeListener {
  message(bridge: Bridge, message: Exclude<FromBridge, { type: 'here' }>): void;
  ready(bridge: Bridge): void; // also again after the worker's death
  gone(bridge: Bridge): void;
}

/** The part of calls/records.ts that bridges need. */
interface FrameRecords {
  readonly loaded: Promise<void>;
  readonly epoch: string;
  recordFrame(documentId: string): Promise<void>;
  hasFrame(documentId: string): boolean;
}

/** Tells which documents another document could have tampered with; see reach.ts. */
interface Reached {
  reached(tabId: number, frameId: number, documentId: string): Promise<boolean>;
}

interface Waiter {
  test(bridge: Bridge): boolean;
  resolve(bridge: Bridge | undefined): void;
}

// The parent page writes the content of a frame without an address of its own. Plugins of the isolated world can
// script such a frame, and use the extension's interfaces there. So a port from such a document counts only if this
// worker injected a bridge there.
const isPage = (url = '') => /^https?:/.test(url);
const isAddressless = (url = '') => /^(?:about|blob|data):/.test(url);

export class Bridges {
  readonly #all = new Set<Bridge>();
  readonly #top = new Map<number, Bridge>(); // by tab
  readonly #waiters = new Set<Waiter>();
  readonly #records: FrameRecords;
  readonly #reach: Reached;
  #listener: BridgeListener | undefined;
  #queued: (() => void)[] | undefined = []; // messages that came before the epoch was read

  constructor(records: FrameRecords, reach: Reached) {
    this.#records = records;
    this.#reach = reach;
    records.loaded.then(() => {
      const early = this.#queued ?? [];
      this.#queued = undefined;
      for (const hear of early) hear();
    });
  }

  /** Sets the listener; once, before any event. */
  listen(listener: BridgeListener): void {
    this.#listener = listener;
  }

  /** Accepts a new port of a content script of this extension in a tab; disconnects any other. */
  add(port: chrome.runtime.Port): void {
    const { sender } = port;
    const tabId = sender?.tab?.id;
    const { documentId, frameId } = sender ?? {};
    if (
      sender?.id !== chrome.runtime.id ||
      !(isPage(sender.url) || (frameId !== 0 && isAddressless(sender.url))) ||
      tabId === undefined ||
      documentId === undefined ||
      frameId === undefined
    ) {
      port.disconnect();
      return;
    }
    // A document has one bridge: a second port is not one of ours.
    for (const other of this.#all) {
      if (other.ready && other.documentId === documentId) {
        port.disconnect();
        return;
      }
    }
    const bridge = new Bridge(port, tabId, documentId, frameId);
    bridge.addressless = !isPage(sender.url);
    this.#all.add(bridge);
    port.onMessage.addListener((raw: unknown) => {
      if (!isFromBridge(raw)) return;
      if (this.#queued === undefined) this.#handleMessage(bridge, raw);
      else this.#queued.push(() => this.#handleMessage(bridge, raw));
    });
    whenDisconnected(port, chrome.runtime, () => this.#remove(bridge));
  }

  /** Allows a document of a frame to have a bridge, which is injected next. */
  allowFrame(documentId: string): Promise<void> {
    return this.#records.recordFrame(documentId);
  }

  /** The bridge of a tab's top document, once it is ready. */
  top(tabId: number): Bridge | undefined {
    return this.#top.get(tabId);
  }

  /** Whether no document has a bridge. */
  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  all(): Bridge[] {
    return Array.from(this.#all).filter(({ ready }) => ready);
  }

  of(tabId: number): Bridge[] {
    return this.all().filter((bridge) => bridge.tabId === tabId);
  }

  /** The first bridge that passes the test, now or within the time. */
  async when(test: (bridge: Bridge) => boolean, ms: number): Promise<Bridge | undefined> {
    for (const bridge of this.#all) if (bridge.ready && test(bridge)) return bridge;
    return new Promise((resolve) => {
      const waiter: Waiter = { test, resolve };
      this.#waiters.add(waiter);
      setTimeout(() => {
        if (this.#waiters.delete(waiter)) resolve(undefined);
      }, ms);
    });
  }

  #handleMessage(bridge: Bridge, message: FromBridge): void {
    if (bridge.gone) return;
    if (bridge.addressless && !this.#records.hasFrame(bridge.documentId)) {
      bridge.close();
      this.#remove(bridge);
      return;
    }
    // Any other message means that the page runs: its dialog is closed.
    bridge.dialog = message.type === 'dialog' && message.open ? (message.dialog ?? '') : undefined;
    if (message.type === 'hello') {
      // A bridge from before a reload of the extension can still connect while Chrome removes it; messages to its
      // port would be lost.
      if (message.epoch !== '' && message.epoch !== this.#records.epoch) {
        bridge.close();
        this.#remove(bridge);
        return;
      }
      this.#answer(bridge, message.reached);
      bridge.late = message.late;
      bridge.updateUrl(message.url);
      for (const { name, hash, main } of message.plugins) bridge.plugins.set(name, { hash, main });
      for (const id of message.running) bridge.running.add(id);
    } else if (message.type === 'here') {
      // A document that loaded while the extension was reloaded can have a bridge that can send but not receive,
      // because Chrome runs our scripts in another isolated world by then. Such a bridge never sends this message.
      bridge.ready = true;
      if (bridge.frameId === 0) this.#top.set(bridge.tabId, bridge);
      this.#wake(bridge);
      this.#listener?.ready(bridge);
      return;
    } else if (message.type === 'registered') {
      bridge.plugins.set(message.name, { hash: message.hash, main: message.main });
    } else if (message.type === 'lateReady') {
      bridge.lateReady();
      return;
    }
    this.#listener?.message(bridge, message);
    if (message.type === 'registered' && bridge.ready) this.#wake(bridge);
  }

  // The bridge keeps the result for later workers, which could not find it out any more.
  #answer(bridge: Bridge, known: boolean | undefined): void {
    const say = (reached: boolean) => bridge.send({ type: 'epoch', epoch: this.#records.epoch, reached });
    if (known !== undefined) say(known);
    else this.#reach.reached(bridge.tabId, bridge.frameId, bridge.documentId).then(say);
  }

  #wake(bridge: Bridge): void {
    for (const waiter of this.#waiters) {
      if (!waiter.test(bridge)) continue;
      this.#waiters.delete(waiter);
      waiter.resolve(bridge);
    }
  }

  #remove(bridge: Bridge): void {
    bridge.markGone();
    this.#all.delete(bridge);
    if (this.#top.get(bridge.tabId) === bridge) this.#top.delete(bridge.tabId);
    this.#listener?.gone(bridge);
  }
}
