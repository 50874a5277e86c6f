// Keeps something that wakes this worker when Chrome stops it: a bridge in some page does, and where there is none, a
// document of the extension without a window, which costs a process and so exists only then.

const lookAfterMs = 3000; // a worker that has just started hears of its bridges a moment later
const page = 'wake.html';

export class Keepalive {
  readonly #needed: () => boolean;
  #due = false;

  constructor(needed: () => boolean) {
    this.#needed = needed;
    chrome.permissions.onAdded.addListener(() => this.changed());
  }

  /** Whether a document is needed may have changed. */
  changed(): void {
    if (this.#due) return;
    this.#due = true;
    setTimeout(() => {
      this.#due = false;
      this.#settle().catch(() => {}); // without it the alarm wakes the worker, within half a minute
    }, lookAfterMs);
  }

  async #settle(): Promise<void> {
    const needed = this.#needed();
    if (!(await chrome.permissions.contains({ permissions: ['offscreen'] }))) return; // nobody has used the panel yet
    if ((await chrome.offscreen.hasDocument()) === needed) return;
    if (!needed) return chrome.offscreen.closeDocument();
    // Chrome asks for a reason of its list, none of which is this one.
    const justification = "Wakes the extension's service worker, which holds the connection to the relay";
    await chrome.offscreen.createDocument({ url: page, reasons: ['WORKERS'], justification });
  }
}

/** Whether a port is that of the document. */
export const isWaker = (port: chrome.runtime.Port): boolean =>
  port.name === 'wake' &&
  port.sender?.id === chrome.runtime.id &&
  port.sender.url === chrome.runtime.getURL(page);
