// Bringing code into a document that does not have it yet. A warm call never comes here.

import type { PluginInfo } from '../../protocol/frames.generated.ts';
import type { RefusalCode } from '../../shared/order.ts';
import type { Bridge, Bridges } from './bridges.ts';

/** Why a call cannot reach its document. Nothing has run when this is thrown. */
export class Refused extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }
}

/** Chrome may never answer for a page that hangs: nobody waits longer, and the next call tries anew. */
const answerMs = 12_000;

const againMs = 350; // right after a reload Chrome may still run a script in the old isolated world, in vain

// Chrome explains itself in sentences only.
function refusalOf(why: unknown): Refused {
  const text = why instanceof Error ? why.message : String(why);
  if (/no tab with id|tab was closed/i.test(text)) return new Refused('TAB_CLOSED', 'The tab was closed');
  if (/error page/i.test(text))
    return new Refused('INJECTION_FAILED', 'The tab shows an error of Chrome in place of the page');
  if (/policy/i.test(text))
    return new Refused(
      'INJECTION_FAILED',
      'A policy of who manages the browser keeps extensions off the site',
    );
  if (/no document with id|frame with id|was removed|document.*not/i.test(text)) {
    return new Refused('TAB_CHANGED', 'The tab went to another page before the tool started');
  }
  return new Refused('INJECTION_FAILED', `Chrome did not let the extension into the page: ${text}`);
}

async function inject(details: chrome.scripting.ScriptInjection<[], unknown>): Promise<string | undefined> {
  try {
    const [result] = await chrome.scripting.executeScript(details);
    return result?.documentId;
  } catch (why) {
    throw refusalOf(why);
  }
}

async function answered<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `The page did not let the extension in within ${answerMs / 1000} s`;
    timer = setTimeout(() => reject(new Refused('TAB_UNRESPONSIVE', message)), answerMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

export class Injector {
  readonly #bridges: Bridges;
  /** How long what was put into a document may take to say so. */
  patienceMs = 1000;
  readonly #bridging = new Map<number, Promise<Bridge>>(); // by tab
  readonly #tapped = new WeakSet<Bridge>();
  readonly #adapting = new Map<string, Promise<void>>(); // by document, plugin and hash

  constructor(bridges: Bridges) {
    this.#bridges = bridges;
  }

  /** The bridge of a tab's top document, injected if the document is older than the extension. */
  bridge(tabId: number): Promise<Bridge> {
    const resident = this.#bridges.top(tabId);
    if (resident !== undefined) return Promise.resolve(resident);
    const pending = this.#bridging.get(tabId);
    if (pending !== undefined) return pending;
    const work = answered(this.#injectBridge(tabId)).finally(() => this.#bridging.delete(tabId));
    this.#bridging.set(tabId, work);
    return work;
  }

  /** Makes sure that a document has a plugin's adapter, of exactly this hash. */
  adapter(bridge: Bridge, plugin: PluginInfo): Promise<void> {
    if (bridge.has(plugin)) return Promise.resolve();
    const key = `${bridge.documentId} ${plugin.name} ${plugin.hash}`;
    const pending = this.#adapting.get(key);
    if (pending !== undefined) return pending;
    const work = answered(this.#injectAdapter(bridge, plugin)).finally(() => this.#adapting.delete(key));
    this.#adapting.set(key, work);
    return work;
  }

  /** Puts a plugin's adapter into a document that may have it: whatever the page did to it, it begins anew. */
  again(bridge: Bridge, plugin: PluginInfo): Promise<void> {
    return this.#injectAdapter(bridge, plugin);
  }

  async #injectBridge(tabId: number): Promise<Bridge> {
    for (let waited = 0; waited < this.patienceMs; waited += againMs) {
      await inject({
        target: { tabId },
        files: ['late.js', 'bridge.js'],
        world: 'ISOLATED',
        injectImmediately: true,
      });
      // By tab, not by document: a navigation meanwhile brings a bridge of its own.
      const top = (one: Bridge) => one.tabId === tabId && one.frameId === 0;
      const bridge = await this.#bridges.when(top, againMs);
      if (bridge === undefined) continue;
      await this.#injectTap(bridge);
      return bridge;
    }
    throw new Refused('INJECTION_FAILED', 'The bridge in the page did not connect');
  }

  /** The bridge of a document in a frame, which has none; undefined when it does not come in time. */
  async frameBridge(tabId: number, documentId: string, ms: number): Promise<Bridge | undefined> {
    await this.#bridges.admit(documentId);
    await inject({
      target: { tabId, documentIds: [documentId] },
      files: ['late.js', 'bridge.js'],
      world: 'ISOLATED',
      injectImmediately: true,
    });
    return this.#bridges.when((one) => one.documentId === documentId, ms);
  }

  /** Has dialogs and windows of a document in a frame answered, before something is done there. */
  async tap(bridge: Bridge): Promise<void> {
    if (bridge.frameId === 0 || this.#tapped.has(bridge)) return;
    this.#tapped.add(bridge);
    // Where no script of the page may run, there is nothing to answer, and Chrome keeps the tap waiting.
    const late = new Promise<void>((resolve) => setTimeout(resolve, againMs));
    await Promise.race([this.#injectTap(bridge).catch(() => undefined), late]);
  }

  // The console of a document that is older than the extension: what the page does from here on can be seen.
  async #injectTap(bridge: Bridge): Promise<void> {
    if (!bridge.late) return;
    await bridge.expectLate('');
    await inject({
      target: { tabId: bridge.tabId, documentIds: [bridge.documentId] },
      files: ['tap.js'],
      world: 'MAIN',
      injectImmediately: true,
    });
  }

  async #injectAdapter(bridge: Bridge, plugin: PluginInfo): Promise<void> {
    const main = plugin.world === 'main';
    if (main) await bridge.expectLate(plugin.name);
    await inject({
      target: { tabId: bridge.tabId, documentIds: [bridge.documentId] },
      files: [plugin.file],
      world: main ? 'MAIN' : 'ISOLATED',
      injectImmediately: true,
    });
    const has = (one: Bridge) => one === bridge && one.has(plugin);
    if ((await this.#bridges.when(has, this.patienceMs)) === undefined) {
      throw new Refused('ADAPTER_NOT_READY', `The adapter of ${plugin.name} did not register in the page`);
    }
  }
}
