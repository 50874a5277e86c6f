// The resident bridges that are connected now. A bridge is what Chrome says about its port's sender: tab, document
// and frame. A message is believed for a call only if it comes from the bridge the call was given to.

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
  ready = false; // it said hello, and heard the answer
  gone = false;
  written = false; // its document has no address of its own
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

  /** Takes the address that a document says it has now. Its origin cannot have changed since its port was opened. */
  moved(url: string): void {
    if (URL.canParse(url) && URL.canParse(this.url) && new URL(url).origin === new URL(this.url).origin)
      this.url = url;
  }

  send(message: ToBridge): void {
    if (!this.gone) this.#port.postMessage(message);
  }

  close(): void {
    this.#port.disconnect();
  }

  /** Lets the bridge forget an outcome. Batched: nothing waits for it. */
  acknowledge(id: string): void {
    if (this.#acknowledged.push(id) === 1) setTimeout(() => this.#flush(), 100);
    else if (this.#acknowledged.length >= 64) this.#flush();
  }

  /**
   * Tells the bridge that an adapter (or, with no name, the console tap) is about to be injected late. Of a document
   * that is gone nothing is waited for: the injection says so.
   */
  async expectLate(plugin: string): Promise<void> {
    if (this.gone) return;
    this.send({ type: 'late', plugin });
    await new Promise<void>((resolve) => this.#lateWaiters.push(resolve));
  }

  lateReady(): void {
    this.#lateWaiters.shift()?.();
  }

  leave(): void {
    this.gone = true;
    for (const resolve of this.#lateWaiters.splice(0)) resolve();
  }

  /** Whether the document has a plugin's adapter, of this hash and in its own world. */
  has({ name, hash, world }: Pick<PluginInfo, 'name' | 'hash' | 'world'>): boolean {
    const adapter = this.plugins.get(name);
    return adapter?.hash === hash && adapter.main === (world === 'main');
  }

  /** Ends the adapters that are not of the installed version of their plugin, which hashOf has. */
  retireOthers(hashOf: (plugin: string) => string | undefined): void {
    for (const [plugin, adapter] of this.plugins) {
      const { hash, unloaded = false } = adapter;
      if (hashOf(plugin) !== hash) {
        if (!unloaded) this.send({ type: 'unload', plugin, hash });
        adapter.unloaded = true;
      } else if (unloaded) this.plugins.delete(plugin); // it is back: the next call lets it begin anew
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

/** What must survive this worker; see calls/records.ts. */
interface FrameRecords {
  readonly loaded: Promise<void>;
  readonly epoch: string;
  putInto(documentId: string): Promise<void>;
  hasFrame(documentId: string): boolean;
}

/** Which documents another document could prepare; see reach.ts. */
interface Reached {
  reached(tabId: number, frameId: number, documentId: string): Promise<boolean>;
}

interface Waiter {
  test(bridge: Bridge): boolean;
  resolve(bridge: Bridge | undefined): void;
}

// A frame without an address of its own shows what its page has written into it. A plugin of the isolated world reaches
// into such a frame, and into the interfaces of the extension there: only where this worker has put a bridge into the
// document may one speak for it.
const isPage = (url = '') => /^https?:/.test(url);
const isWritten = (url = '') => /^(?:about|blob|data):/.test(url);

export class Bridges {
  readonly #all = new Set<Bridge>();
  readonly #top = new Map<number, Bridge>(); // by tab
  readonly #waiters = new Set<Waiter>();
  readonly #records: FrameRecords;
  readonly #reach: Reached;
  #listener: BridgeListener | undefined;
  #early: (() => void)[] | undefined = []; // messages that came before the epoch was read

  constructor(records: FrameRecords, reach: Reached) {
    this.#records = records;
    this.#reach = reach;
    records.loaded.then(() => {
      const early = this.#early ?? [];
      this.#early = undefined;
      for (const hear of early) hear();
    });
  }

  /** Sets who hears of bridges; once, before anything is told. */
  listen(listener: BridgeListener): void {
    this.#listener = listener;
  }

  /** Takes a new port; anything but a content script of ours in a tab is turned away. */
  add(port: chrome.runtime.Port): void {
    const { sender } = port;
    const tabId = sender?.tab?.id;
    const { documentId, frameId } = sender ?? {};
    if (
      sender?.id !== chrome.runtime.id ||
      !(isPage(sender.url) || (frameId !== 0 && isWritten(sender.url))) ||
      tabId === undefined ||
      documentId === undefined ||
      frameId === undefined
    ) {
      port.disconnect();
      return;
    }
    // One that is heard stays the only one of its document: a second one is not ours.
    for (const other of this.#all) {
      if (other.ready && other.documentId === documentId) {
        port.disconnect();
        return;
      }
    }
    const bridge = new Bridge(port, tabId, documentId, frameId);
    bridge.written = !isPage(sender.url);
    this.#all.add(bridge);
    port.onMessage.addListener((raw: unknown) => {
      if (!isFromBridge(raw)) return;
      if (this.#early === undefined) this.#hear(bridge, raw);
      else this.#early.push(() => this.#hear(bridge, raw));
    });
    whenDisconnected(port, chrome.runtime, () => this.#remove(bridge));
  }

  /** Lets a document of a frame have a bridge, which is put into it next. */
  admit(documentId: string): Promise<void> {
    return this.#records.putInto(documentId);
  }

  /** The bridge of a tab's top document, once it is ready. */
  top(tabId: number): Bridge | undefined {
    return this.#top.get(tabId);
  }

  /** Whether no page has one. */
  get none(): boolean {
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

  #hear(bridge: Bridge, message: FromBridge): void {
    if (bridge.gone) return;
    if (bridge.written && !this.#records.hasFrame(bridge.documentId)) {
      bridge.close();
      this.#remove(bridge);
      return;
    }
    // A page that says anything else runs.
    bridge.dialog = message.type === 'dialog' && message.open ? (message.dialog ?? '') : undefined;
    if (message.type === 'hello') {
      // A bridge from before a reload of the extension can get through while Chrome is still taking it down; its
      // port would swallow what is sent to it.
      if (message.epoch !== '' && message.epoch !== this.#records.epoch) {
        bridge.close();
        this.#remove(bridge);
        return;
      }
      this.#answer(bridge, message.reached);
      bridge.late = message.late;
      bridge.moved(message.url);
      for (const { name, hash, main } of message.plugins) bridge.plugins.set(name, { hash, main });
      for (const id of message.running) bridge.running.add(id);
    } else if (message.type === 'here') {
      // A document that loaded while the extension was being reloaded can have a bridge whose port leads here and
      // which hears nothing: Chrome runs our scripts in another isolated world by now. That one never gets so far.
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

  // The document itself keeps what was found out about its beginning: later that cannot be seen any more.
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
    bridge.leave();
    this.#all.delete(bridge);
    if (this.#top.get(bridge.tabId) === bridge) this.#top.delete(bridge.tabId);
    this.#listener?.gone(bridge);
  }
}
