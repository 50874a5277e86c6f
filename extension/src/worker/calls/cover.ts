// Makes closed documents black in screenshots of a tab, by a style sheet of origin USER in the documents themselves:
// no page can see or override it, and it holds wherever the page around them puts their frames.

import { isRecord, isText, listOf } from '../../shared/guards.ts';
import type { Documents } from './documents.ts';
import type { ToolRun } from './tool-runner.ts';

const css = `:root { background: #000 !important; color: #000 !important; filter: brightness(0) !important; }
:root *, :root *::before, :root *::after, :root::before, :root::after, ::backdrop {
  visibility: hidden !important; transition: none !important; animation: none !important; }`;

const key = 'hidden'; // in chrome.storage.session, so that the next worker can remove what this one left
const paintMs = 400;
const tries = 3;

/** Covers the closed documents of a tab. */
export class DocumentCover {
  readonly #run: ToolRun;
  readonly #documents: Documents;
  readonly #black = new Set<string>(); // documents

  constructor(run: ToolRun, documents: Documents) {
    this.#run = run;
    this.#documents = documents;
  }

  /** Whether a document is covered. */
  has(documentId: string): boolean {
    return this.#black.has(documentId);
  }

  /**
   * Calls take while all closed documents are covered, and again if one came meanwhile; undefined: the page changed
   * each time.
   */
  async captureCovered<T>(take: () => Promise<T>): Promise<T | undefined> {
    for (let n = 0; n < tries; n++) {
      let came = false;
      const committed = ({ tabId, url }: { tabId: number; url: string }) => {
        if (tabId !== this.#run.tabId) return;
        came ||= this.#run.border.closed([{ url, origin: undefined }]) !== undefined;
      };
      chrome.webNavigation.onCommitted.addListener(committed);
      try {
        await this.#hide();
        const taken = await take();
        if (!came && !(await this.#cameMeanwhile())) return taken;
      } finally {
        chrome.webNavigation.onCommitted.removeListener(committed);
      }
    }
    return undefined;
  }

  async #closed(): Promise<string[]> {
    const spots = await this.#documents.allSpots(this.#run);
    return spots.flatMap(({ closed, documentId }) => (closed === undefined ? [] : [documentId]));
  }

  // Whether a closed document came that was not covered.
  async #cameMeanwhile(): Promise<boolean> {
    const left = (await this.#closed()).filter((documentId) => !this.#black.has(documentId));
    return (await Promise.all(left.map((documentId) => this.#canHide(documentId)))).includes(true);
  }

  // Chrome's own documents, and some without an address, cannot be injected into: the screenshot is painted over
  // there.
  async #canHide(documentId: string): Promise<boolean> {
    const target = { tabId: this.#run.tabId, documentIds: [documentId] };
    const func = () => true;
    const said = await chrome.scripting
      .executeScript({ target, func, injectImmediately: true })
      .catch(() => undefined);
    return said !== undefined;
  }

  async #hide(): Promise<void> {
    const { tabId } = this.#run;
    const all = (await this.#closed()).filter((documentId) => !this.#black.has(documentId));
    if (all.length === 0) return;
    await chrome.storage.session.set({ [`${key}:${tabId}`]: [...this.#black, ...all] });
    const hide = async (documentId: string) => {
      try {
        await chrome.scripting.insertCSS(styleOf(tabId, documentId));
        this.#black.add(documentId);
        await painted(tabId, documentId);
      } catch {
        // It went away, or lets nobody in.
      }
    };
    await Promise.all(all.map(hide));
  }

  /** Whether a closed document could not be covered. */
  async hasUncovered(): Promise<boolean> {
    return (await this.#closed()).some((documentId) => !this.#black.has(documentId));
  }

  /** Removes the covers. */
  async uncover(): Promise<void> {
    await removeStyles(this.#run.tabId, Array.from(this.#black));
  }
}

const styleOf = (tabId: number, documentId: string): chrome.scripting.CSSInjection => ({
  target: { tabId, documentIds: [documentId] },
  css,
  origin: 'USER',
});

async function removeStyles(tabId: number, documentIds: readonly string[]): Promise<void> {
  const shown = documentIds.map((one) => chrome.scripting.removeCSS(styleOf(tabId, one)).catch(() => {}));
  await Promise.all(shown);
  await chrome.storage.session.remove(`${key}:${tabId}`);
}

// Resolves once the style is on the screen.
async function painted(tabId: number, documentId: string): Promise<void> {
  const func = (ms: number) =>
    new Promise<void>((resolve) => {
      setTimeout(resolve, ms); // a frame that is not drawn
      requestAnimationFrame(() => requestAnimationFrame(() => requestAnimationFrame(() => resolve())));
    });
  const target = { tabId, documentIds: [documentId] };
  await chrome.scripting.executeScript({ target, func, args: [paintMs], injectImmediately: true });
}

/** Removes the covers that an earlier worker left because it ended during a screenshot. */
export async function uncoverLeftovers(): Promise<void> {
  const all: unknown = await chrome.storage.session.get(null);
  if (!isRecord(all)) return;
  for (const [name, documentIds] of Object.entries(all)) {
    const tabId = Number(name.slice(key.length + 1));
    if (name.startsWith(`${key}:`) && listOf(isText)(documentIds)) await removeStyles(tabId, documentIds);
  }
}
