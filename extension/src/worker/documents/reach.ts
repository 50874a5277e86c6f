// Which documents another document could reach before our scripts ran in them. A window that a page opens is one its
// opener can script from the moment it exists: Chromium keeps the globals of its empty first document for the first
// page of the same origin, and between the commit of any later page and document_start there is time enough as well.
// Whatever reaches a document runs in its process and in another tab that some window.open, link or picture-in-picture
// window connects with its own. So those two are kept, as Chrome tells them: what hangs together, and who used which
// process. What is not known counts as reached.

import { type Guard, isFlag, isNumber, isText, listOf, optional, shape } from '../../shared/guards.ts';
import type { SessionStore } from '../util/store.ts';

/** A top document of a tab. */
interface Began {
  id: string;
  process: number;
  at: number; // the event with which somebody could first have a hold of its window
}

interface KnownTab {
  tab: number;
  group: number; // tabs whose windows can reach each other have the same
  created: number;
  gone?: number | undefined;
  shown: boolean; // it has shown a web page: later documents get new globals
  sure?: number | undefined; // since which event its processes are known; undefined: it may be in any
  processes: number[];
  documents: Began[];
}

interface State {
  count: number; // of the events so far
  tabs: KnownTab[];
}

const isState: Guard<State> = shape({
  count: isNumber,
  tabs: listOf(
    shape({
      tab: isNumber,
      group: isNumber,
      created: isNumber,
      gone: optional(isNumber),
      shown: isFlag,
      sure: optional(isNumber),
      processes: listOf(isNumber),
      documents: listOf(shape({ id: isText, process: isNumber, at: isNumber })),
    }),
  ),
});

const key = 'reach';
const anyGroup = 0; // of tabs from before the extension ran: they may be connected with any other
const maxDocuments = 16; // of a tab, for the back/forward cache

export class Reach {
  readonly #store: SessionStore;
  readonly #tabs = new Map<number, KnownTab>();
  #count = 0;
  #saving = false;
  #changed = false;
  readonly #loaded: Promise<void>;

  /** The store must outlive the worker, and end with the extension: what happens while it is off is not seen. */
  constructor(store: SessionStore) {
    this.#store = store;
    this.#loaded = this.#load();
    const { tabs, webNavigation } = chrome;
    tabs.onCreated.addListener(({ id, openerTabId }) => {
      if (id !== undefined) this.#after(() => this.#created(id, openerTabId));
    });
    tabs.onRemoved.addListener((tabId) => this.#after(() => this.#removed(tabId)));
    tabs.onReplaced.addListener((added, removed) => this.#after(() => this.#replaced(added, removed)));
    webNavigation.onCreatedNavigationTarget.addListener(({ tabId, sourceTabId, sourceProcessId }) =>
      this.#after(() => {
        this.#created(tabId, sourceTabId);
        for (const id of [tabId, sourceTabId]) this.#use(this.#tab(id), sourceProcessId); // its empty document's
      }),
    );
    webNavigation.onCommitted.addListener((details) => this.#after(() => this.#committed(details)));
  }

  /** Whether another document could have scripted this one before our scripts ran in it. */
  async reached(tabId: number, frameId: number, documentId: string): Promise<boolean> {
    if (frameId !== 0) return true; // the documents around it can always reach a frame
    // Chrome delivers earlier navigation events before it answers this.
    await chrome.webNavigation.getFrame({ tabId, frameId }).catch(() => {});
    await this.#loaded;
    const own = this.#tabs.get(tabId);
    const document = own?.documents.find(({ id }) => id === documentId);
    if (own === undefined || document === undefined) return true;
    return Array.from(this.#tabs.values()).some(
      (other) =>
        other !== own &&
        (other.group === own.group || other.group === anyGroup || own.group === anyGroup) &&
        (other.sure === undefined ||
          other.sure > document.at ||
          other.processes.includes(document.process)) &&
        (other.gone === undefined || other.gone > document.at),
    );
  }

  // Handles events in order, including those that come before the stored state is read.
  #after(event: () => void): void {
    this.#loaded.then(() => {
      this.#count++;
      event();
      if (this.#changed && !this.#saving) this.#save();
    });
  }

  #tab(tabId: number): KnownTab {
    const known = this.#tabs.get(tabId);
    if (known !== undefined) return known;
    const tab: KnownTab = {
      tab: tabId,
      group: anyGroup,
      created: 0,
      shown: false,
      processes: [],
      documents: [],
    };
    this.#tabs.set(tabId, tab);
    this.#changed = true;
    return tab;
  }

  #created(tabId: number, openerTabId: number | undefined): void {
    const now = this.#count;
    if (!this.#tabs.has(tabId)) Object.assign(this.#tab(tabId), { group: now, created: now, sure: now });
    if (openerTabId !== undefined) this.#connect(tabId, openerTabId);
  }

  #connect(one: number, other: number): void {
    const { group: from } = this.#tab(one);
    const { group: into } = this.#tab(other);
    if (from === into) return;
    this.#changed = true;
    const group = from === anyGroup ? from : into;
    for (const tab of this.#tabs.values()) if (tab.group === from || tab.group === into) tab.group = group;
  }

  #committed(details: chrome.webNavigation.WebNavigationTransitionCallbackDetails): void {
    const tab = this.#tab(details.tabId);
    this.#use(tab, details.processId);
    if (details.frameType !== 'outermost_frame' || details.documentId === undefined) return;
    // A document from the back/forward cache, or a prerendered one, is known already.
    if (tab.documents.some(({ id }) => id === details.documentId)) return;
    this.#changed = true;
    tab.sure ??= this.#count;
    tab.documents.push({
      id: details.documentId,
      process: details.processId,
      at: tab.shown ? this.#count : tab.created,
    });
    if (tab.documents.length > maxDocuments) tab.documents.shift();
    if (/^https?:/.test(details.url)) tab.shown = true;
  }

  // Chrome has given a tab another id.
  #replaced(added: number, removed: number): void {
    this.#tabs.set(added, { ...this.#tab(removed), tab: added });
    this.#tabs.delete(removed);
    this.#changed = true;
  }

  // A tab that was closed still counts for the documents that began before.
  #removed(tabId: number): void {
    const closed = this.#tabs.get(tabId);
    if (closed === undefined) return;
    closed.gone = this.#count;
    this.#changed = true;
    const all = Array.from(this.#tabs.values());
    const open = all.filter(({ gone }) => gone === undefined);
    for (const { tab, gone } of all) {
      const before = ({ shown, documents }: KnownTab) =>
        !shown || documents.some(({ at }) => at < (gone ?? 0));
      if (gone !== undefined && !open.some(before)) this.#tabs.delete(tab);
    }
  }

  async #load(): Promise<void> {
    const { [key]: kept } = await this.#store.get(null);
    if (isState(kept)) {
      this.#count = kept.count;
      for (const tab of kept.tabs) this.#tabs.set(tab.tab, tab);
      return;
    }
    await Promise.all((await chrome.tabs.query({})).map((tab) => this.#find(tab)));
    await this.#save();
  }

  // Adds a tab from before the extension ran: its opener is unknown, its processes can be asked for.
  async #find({ id, discarded }: chrome.tabs.Tab): Promise<void> {
    if (id === undefined) return;
    const tab = this.#tab(id);
    const frames = await chrome.webNavigation.getAllFrames({ tabId: id }).catch(() => null);
    for (const { processId } of frames ?? []) this.#use(tab, processId);
    if (tab.processes.length > 0 || discarded) tab.sure = 0;
    tab.shown = frames?.some(({ frameId, url }) => frameId === 0 && /^https?:/.test(url)) ?? false;
  }

  #use(tab: KnownTab, process: number): void {
    if (tab.processes.includes(process)) return;
    tab.processes.push(process);
    this.#changed = true;
  }

  async #save(): Promise<void> {
    this.#saving = true;
    while (this.#changed) {
      this.#changed = false;
      const state: State = { count: this.#count, tabs: Array.from(this.#tabs.values()) };
      await this.#store.set({ [key]: state }).catch(() => {}); // then the next worker knows less, and trusts less
    }
    this.#saving = false;
  }
}
