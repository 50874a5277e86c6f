// The tools for developers: which document does its part, and what has to be put into the page before.

import { isText } from '../../shared/guards.ts';
import type { Documents } from '../../worker/calls/documents.ts';
import type { ToolHandler, ToolRun } from '../../worker/calls/tool-runner.ts';
import type { Bridge } from '../../worker/documents/bridges.ts';
import { refusalOf } from '../../worker/documents/inject.ts';

const holdMs = 30 * 60_000; // that a console is captured without a call
const mostDocuments = 1000; // that are remembered

/** The main-world scripts of these tools, and the tabs whose console is captured. */
export class DevPages {
  readonly #has = new Map<string, Bridge | undefined>(); // by document, with the bridge that it had
  readonly #until = new Map<number, number>(); // tabs whose console is captured
  readonly #documents: Documents;

  constructor(documents: Documents) {
    this.#documents = documents;
    chrome.webNavigation.onCommitted.addListener(({ tabId, frameId, documentId }) => {
      if (frameId !== 0 || documentId === undefined || (this.#until.get(tabId) ?? 0) < Date.now()) return;
      if (this.#has.has(documentId)) return; // back from the cache
      this.#put(tabId, documentId, 'dev-early.js').catch(() => {}); // a page of Chrome's own, or one that is gone
    });
    chrome.tabs.onRemoved.addListener((tabId) => this.#until.delete(tabId));
  }

  /** The document that a call is for. */
  of(run: ToolRun): Promise<Bridge> {
    const { frame } = run.args;
    return isText(frame) ? this.#documents.frame(run, frame) : run.top();
  }

  /** Puts the script among the page's own, where it is not yet, and may be. */
  async prepare(run: ToolRun, bridge: Bridge): Promise<void> {
    await run.admit(bridge);
    // A document that a javascript: address replaced has the id of the one before it, and another bridge.
    if (this.#has.has(bridge.documentId) && this.#has.get(bridge.documentId)?.gone !== true) {
      this.#has.set(bridge.documentId, bridge);
      return;
    }
    try {
      await this.#put(bridge.tabId, bridge.documentId, 'dev-asked.js', bridge);
    } catch (why) {
      throw refusalOf(why);
    }
  }

  async #put(tabId: number, documentId: string, file: string, bridge?: Bridge): Promise<void> {
    this.#has.set(documentId, bridge);
    for (const oldest of this.#has.keys()) {
      if (this.#has.size <= mostDocuments) break;
      this.#has.delete(oldest);
    }
    const target = { tabId, documentIds: [documentId] };
    try {
      await chrome.scripting.executeScript({ target, files: [file], world: 'MAIN', injectImmediately: true });
    } catch (why) {
      this.#has.delete(documentId);
      throw why;
    }
  }

  /** Goes on with the console in the pages that follow in a tab, or does not. */
  follow(tabId: number, on: boolean): void {
    if (on) this.#until.set(tabId, Date.now() + holdMs);
    else this.#until.delete(tabId);
  }
}

/** A tool whose work a document does. */
export function inDocument(pages: DevPages, amongPage: boolean): ToolHandler {
  return async (run) => {
    const bridge = await pages.of(run);
    run.isFor(bridge);
    if (amongPage) await pages.prepare(run, bridge);
    return run.part(bridge, run.frame.tool, run.args);
  };
}

export function readingConsole(pages: DevPages): ToolHandler {
  const read = inDocument(pages, true);
  return async (run) => {
    const answer = await read(run);
    if (run.args.frame === undefined) pages.follow(run.tabId, run.args.action !== 'stop');
    return answer;
  };
}
