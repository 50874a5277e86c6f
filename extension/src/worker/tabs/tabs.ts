// The tabs of this browser with a web address, kept up to date by events and told to the relay as they change.

import type { TabInfo } from '../../protocol/frames.generated.ts';
import { exactly } from '../../shared/guards.ts';

export type Tab = TabInfo;

const isStatus = exactly('unloaded', 'loading', 'complete');

interface TabListener {
  changed(tab: Tab): void;
  closed(tabId: number, became?: number): void; // or left the web, or has another id now
  removed(tabId: number): void; // really closed, web address or not
  loading(tabId: number): void; // a new document begins
  frozen(tabId: number): void; // for a while now: nothing runs in it until the person looks at it
}

// A page that comes out of the back/forward cache is told as frozen for some 10 ms.
const thawMs = 500;

// A frame's header has a limit, and a page may choose both as long as it likes.
const maxUrl = 8192;
const maxTitle = 1024;

const isWeb = (url: string | undefined): url is string => url !== undefined && /^https?:/.test(url);

const same = (a: Tab, b: Tab): boolean =>
  a.url === b.url &&
  a.title === b.title &&
  a.active === b.active &&
  a.focused === b.focused &&
  a.discarded === b.discarded &&
  a.status === b.status &&
  a.windowId === b.windowId;

export class Tabs {
  readonly #tabs = new Map<number, Tab>();
  readonly #closed = new Set<number>(); // what is still told of these was found out before
  readonly #frozen = new Set<number>();
  readonly #freezing = new Map<number, ReturnType<typeof setTimeout>>(); // not for long enough to believe it
  readonly #awaited = new Map<number, (() => void)[]>();
  #focusedWindow: number = chrome.windows.WINDOW_ID_NONE;
  #listener: TabListener | undefined;
  readonly loaded: Promise<void>;

  constructor() {
    chrome.tabs.onCreated.addListener((tab) => this.#upsert(tab));
    chrome.tabs.onUpdated.addListener((tabId, change, tab) => {
      if (change.status === 'loading') this.#listener?.loading(tabId);
      this.#upsert(tab);
    });
    chrome.tabs.onRemoved.addListener((tabId) => {
      this.#closed.add(tabId);
      this.#listener?.removed(tabId);
      this.#remove(tabId);
      this.#settle(tabId);
    });
    chrome.tabs.onReplaced.addListener((added, removed) => {
      this.#replace(added, removed);
    });
    chrome.tabs.onAttached.addListener((tabId) => this.look(tabId));
    chrome.tabs.onActivated.addListener(({ tabId, windowId }) => this.#activate(tabId, windowId));
    chrome.windows.onFocusChanged.addListener((windowId) => this.#focus(windowId));
    chrome.windows.onRemoved.addListener((windowId) => this.#closeWindow(windowId));
    this.loaded = this.#load();
  }

  /** Sets the listener; once, before any event. */
  listen(listener: TabListener): void {
    this.#listener = listener;
  }

  get(tabId: number): Tab | undefined {
    return this.#tabs.get(tabId);
  }

  /** Whether Chrome has stopped everything that runs in a tab, to save energy. */
  isFrozen(tabId: number): boolean {
    return this.#frozen.has(tabId);
  }

  all(): Tab[] {
    return Array.from(this.#tabs.values());
  }

  /** The browser window used last, if it is known. */
  get lastWindow(): number | undefined {
    const none = chrome.windows.WINDOW_ID_NONE;
    return this.#focusedWindow === none
      ? this.all().find(({ active }) => active)?.windowId
      : this.#focusedWindow;
  }

  /** Waits until a tab shows a web address, is closed, or the time is over: a new tab has no address yet. */
  shown(tabId: number, waitMs: number): Promise<void> {
    if (this.#tabs.has(tabId)) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, waitMs);
      const done = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#awaited.set(tabId, [...(this.#awaited.get(tabId) ?? []), done]);
    });
  }

  /** Notes that a tab's page has sent a message: it runs, though Chrome may still report it as frozen. */
  runs(tabId: number): void {
    this.#thaw(tabId);
  }

  /** Asks Chrome for the state of a tab: there is no event for a crash. */
  look(tabId: number): Promise<void> {
    return chrome.tabs.get(tabId).then(
      (tab) => this.#upsert(tab),
      () => this.#remove(tabId),
    );
  }

  #settle(tabId: number): void {
    for (const done of this.#awaited.get(tabId) ?? []) done();
    this.#awaited.delete(tabId);
  }

  async #load(): Promise<void> {
    const focused = await chrome.windows.getLastFocused().catch(() => undefined);
    this.#focusedWindow = focused?.id ?? this.#focusedWindow;
    for (const tab of await chrome.tabs.query({})) this.#upsert(tab);
  }

  #upsert(from: chrome.tabs.Tab): void {
    const { id, url } = from;
    if (id === undefined || this.#closed.has(id)) return;
    if (from.frozen) this.#freeze(id);
    else this.#thaw(id);
    if (!isWeb(url)) {
      this.#remove(id);
      return;
    }
    this.#put({
      id,
      windowId: from.windowId,
      url: url.slice(0, maxUrl),
      title: (from.title ?? '').slice(0, maxTitle),
      active: from.active,
      focused: from.windowId === this.#focusedWindow,
      discarded: from.discarded || from.status === 'unloaded', // nothing of a crashed page is left either
      status: isStatus(from.status) ? from.status : 'complete',
      lastUsed: Math.round(from.lastAccessed ?? 0),
    });
  }

  #put(tab: Tab): void {
    const before = this.#tabs.get(tab.id);
    this.#tabs.set(tab.id, tab);
    if (before === undefined || !same(before, tab)) this.#listener?.changed(tab);
    this.#settle(tab.id);
  }

  #freeze(tabId: number): void {
    if (this.#frozen.has(tabId) || this.#freezing.has(tabId)) return;
    const believed = async () => {
      const still = await chrome.tabs.get(tabId).catch(() => undefined); // the news that it runs may be late
      if (!this.#freezing.delete(tabId) || still?.frozen === false) return;
      this.#frozen.add(tabId);
      this.#listener?.frozen(tabId);
    };
    this.#freezing.set(tabId, setTimeout(believed, thawMs));
  }

  #thaw(tabId: number): void {
    clearTimeout(this.#freezing.get(tabId));
    this.#freezing.delete(tabId);
    this.#frozen.delete(tabId);
  }

  #remove(tabId: number, became?: number): void {
    this.#thaw(tabId);
    if (this.#tabs.delete(tabId)) this.#listener?.closed(tabId, became);
  }

  // The new id is told first, so that whoever knows the old one finds the tab there.
  #replace(added: number, removed: number): void {
    chrome.tabs.get(added).then(
      (tab) => {
        this.#upsert(tab);
        this.#remove(removed, this.#tabs.has(added) ? added : undefined);
      },
      () => this.#remove(removed),
    );
  }

  #activate(tabId: number, windowId: number): void {
    for (const tab of this.all()) {
      if (tab.windowId !== windowId) continue;
      if (tab.id === tabId) this.#put({ ...tab, active: true, lastUsed: Date.now() });
      else if (tab.active) this.#put({ ...tab, active: false });
    }
  }

  // While the person is in another program, the window they were in last counts: the agent is often in that program.
  #focus(windowId: number): void {
    if (windowId === chrome.windows.WINDOW_ID_NONE) return;
    this.#focusedWindow = windowId;
    for (const tab of this.all()) this.#put({ ...tab, focused: tab.windowId === windowId });
  }

  // Chrome does not always tell which window it is next, such as while the person is in another program.
  async #closeWindow(windowId: number): Promise<void> {
    if (windowId !== this.#focusedWindow) return;
    const last = await chrome.windows.getLastFocused().catch(() => undefined); // there may be none left
    if (last?.id !== undefined && this.#focusedWindow === windowId) this.#focus(last.id);
  }
}
