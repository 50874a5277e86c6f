// What shows on a tab that an agent acts in it: the toolbar icon of that tab, and a mark that its bridge draws.
import type { Acting } from '../../shared/bridge-messages.ts';
import type { CallListener, OpenCall } from '../calls/inflight.ts';
import { plain } from '../util/text.ts';

const stayMs = 1500; // after the last call
const dot = '●';
const key = 'marks';

interface Marked {
  open: number; // calls
  leaving: ReturnType<typeof setTimeout> | undefined;
}

export class Marks implements CallListener {
  readonly #tabs = new Map<number, Marked>();
  readonly #changed: () => void;
  #on = true;
  #waiting = 0;

  constructor(changed: () => void) {
    this.#changed = changed;
    chrome.storage.local.get(key).then(({ [key]: on }) => {
      this.#on = on !== false;
      changed();
    });
  }

  /** Whether the person wants marks. */
  get on(): boolean {
    return this.#on;
  }

  /** The person switches them. */
  set(on: boolean): void {
    this.#on = on;
    chrome.storage.local.set({ [key]: on });
    if (!on) for (const tabId of this.#tabs.keys()) this.#clear(tabId);
    this.#changed();
  }

  /** What a page is to show while a call runs; undefined: nothing. */
  acting({ client, title, tool }: OpenCall['frame']): Acting | undefined {
    return this.#on ? { client: plain(client ?? ''), title: plain(title ?? tool) } : undefined;
  }

  /** So many questions wait: that matters more than who acts. */
  waiting(count: number): void {
    if (count === this.#waiting) return;
    this.#waiting = count;
    for (const tabId of this.#tabs.keys()) this.#show(tabId);
  }

  began({ frame }: OpenCall): void {
    if (!this.#on) return;
    const marked = this.#tabs.get(frame.tabId);
    if (marked !== undefined) {
      marked.open++;
      clearTimeout(marked.leaving);
      return;
    }
    this.#tabs.set(frame.tabId, { open: 1, leaving: undefined });
    setTimeout(() => this.#show(frame.tabId)); // once the call is on its way
  }

  ended({ frame: { tabId } }: OpenCall): void {
    const marked = this.#tabs.get(tabId);
    if (marked === undefined || --marked.open > 0) return;
    clearTimeout(marked.leaving);
    marked.leaving = setTimeout(() => this.#clear(tabId), stayMs);
  }

  // Without a text of its own a tab shows what all tabs show: how many questions wait.
  #clear(tabId: number): void {
    clearTimeout(this.#tabs.get(tabId)?.leaving);
    this.#tabs.delete(tabId);
    chrome.action.setBadgeText({ tabId }).catch(() => {});
  }

  // A tab that was closed needs no badge.
  #show(tabId: number): void {
    if (!this.#tabs.has(tabId)) return;
    chrome.action
      .setBadgeText({ tabId, text: this.#waiting === 0 ? dot : String(this.#waiting) })
      .catch(() => {});
  }
}
