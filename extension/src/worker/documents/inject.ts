// Injects bridges, taps and adapters into documents that do not have them yet.

import type { PluginInfo } from '../../protocol/frames.generated.ts';
import type { Ending, RefusalCode } from '../../shared/order.ts';
import type { Added } from './added.ts';
import type { Bridge, Bridges } from './bridges.ts';

/** Why a call cannot reach its document. Nothing has run when this is thrown. */
export class Refused extends Error {
  readonly code: RefusalCode;

  constructor(code: RefusalCode, message: string) {
    super(message);
    this.code = code;
  }

  /** How a call ends for it. */
  get ending(): Ending {
    const { code, message } = this;
    return { status: 'refused', started: false, refusal: { code, message, outcome: 'not_executed' } };
  }
}

/** What a person and an agent are told of a site that a policy of the browser closes to the extension. */
export const policyBlocks =
  'The policy of the organization that manages this browser keeps extensions off the site';

/** The next step then, for an agent. */
export const policyHint =
  'Do not look for a way around it, and do not repeat the call: only an administrator can change it.';

/** Whether Chrome refused an injection for that reason; it says so in these words and in no other way. */
export const blockedByPolicy = (why: unknown): boolean =>
  (why instanceof Error ? why.message : why) ===
  'This page cannot be scripted due to an ExtensionsSettings policy.';

/** Whether the policy of the browser closes a document; Chrome tells only by refusing. */
export async function isBlocked(tabId: number, documentId: string): Promise<boolean> {
  const target = { tabId, documentIds: [documentId] };
  const asked = chrome.scripting.executeScript({ target, injectImmediately: true, func: () => true });
  return asked.then(() => false, blockedByPolicy);
}

/**
 * A policy of the browser closes the site to the extension (runtime_blocked_hosts). No call and no person at the
 * browser can change that, so it has a code and a next step of its own.
 */
export class BlockedByPolicy extends Refused {
  constructor() {
    super('INJECTION_FAILED', policyBlocks);
  }

  override get ending(): Ending {
    const error = {
      code: 'BROWSER_POLICY',
      category: 'auth',
      message: this.message,
      hint: policyHint,
      retryable: false,
      outcome: 'not_executed',
    };
    return { status: 'threw', error };
  }
}

/** Limit for an injection: Chrome may never answer for a page that hangs. The next call tries again. */
const answerMs = 12_000;

const againMs = 350; // right after a reload Chrome may still run a script in the old isolated world, in vain

// Chrome's errors have messages but no codes.
export function refusalOf(why: unknown): Refused {
  const text = why instanceof Error ? why.message : String(why);
  if (/no tab with id|tab was closed/i.test(text)) return new Refused('TAB_CLOSED', 'The tab was closed');
  if (/error page/i.test(text))
    return new Refused('INJECTION_FAILED', 'The tab shows an error of Chrome in place of the page');
  if (blockedByPolicy(text)) return new BlockedByPolicy();
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

async function withTimeout<T>(work: Promise<T>): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const message = `The page did not let the extension in within ${answerMs / 1000} s`;
    timer = setTimeout(() => reject(new Refused('TAB_UNRESPONSIVE', message)), answerMs);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}

export class Injector {
  readonly #bridges: Bridges;
  readonly #added: Added | undefined;
  /** How long injected code may take to report itself. */
  patienceMs = 1000;
  readonly #bridging = new Map<number, Promise<Bridge>>(); // by tab
  readonly #tapped = new WeakSet<Bridge>();
  readonly #adapting = new Map<string, Promise<void>>(); // by document, plugin and hash

  constructor(bridges: Bridges, added?: Added) {
    this.#bridges = bridges;
    this.#added = added;
  }

  /** The bridge of a tab's top document, injected if the document is older than the extension. */
  ensureBridge(tabId: number): Promise<Bridge> {
    const resident = this.#bridges.top(tabId);
    if (resident !== undefined) return Promise.resolve(resident);
    const pending = this.#bridging.get(tabId);
    if (pending !== undefined) return pending;
    const work = withTimeout(this.#injectBridge(tabId)).finally(() => this.#bridging.delete(tabId));
    this.#bridging.set(tabId, work);
    return work;
  }

  /** Injects a plugin's adapter unless the document has it with exactly this hash. */
  ensureAdapter(bridge: Bridge, plugin: PluginInfo): Promise<void> {
    if (bridge.has(plugin)) return Promise.resolve();
    const key = `${bridge.documentId} ${plugin.name} ${plugin.hash}`;
    const pending = this.#adapting.get(key);
    if (pending !== undefined) return pending;
    const work = withTimeout(this.#injectAdapter(bridge, plugin)).finally(() => this.#adapting.delete(key));
    this.#adapting.set(key, work);
    return work;
  }

  /** Injects a plugin's adapter even if the document has it, so that it starts anew. */
  reinjectAdapter(bridge: Bridge, plugin: PluginInfo): Promise<void> {
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

  /** The bridge of the document that a tab shows, injected unless it has come; undefined: none came in time. */
  async documentBridge(tabId: number, documentId: string, ms: number): Promise<Bridge | undefined> {
    const isOf = (one: Bridge) => one.documentId === documentId;
    const there = await this.#bridges.when(isOf, 0);
    if (there !== undefined) return there;
    await inject({
      target: { tabId, documentIds: [documentId] },
      files: ['late.js', 'bridge.js'],
      world: 'ISOLATED',
      injectImmediately: true,
    });
    const bridge = await this.#bridges.when(isOf, ms);
    if (bridge !== undefined) await this.#injectTap(bridge);
    return bridge;
  }

  /** Injects a bridge into the document of a frame; undefined: it did not connect in time. */
  async frameBridge(tabId: number, documentId: string, ms: number): Promise<Bridge | undefined> {
    await this.#bridges.allowFrame(documentId);
    await inject({
      target: { tabId, documentIds: [documentId] },
      files: ['late.js', 'bridge.js'],
      world: 'ISOLATED',
      injectImmediately: true,
    });
    return this.#bridges.when((one) => one.documentId === documentId, ms);
  }

  /** Injects the tap into the document of a frame, once, so that its dialogs and windows are handled during an act. */
  async ensureTap(bridge: Bridge): Promise<void> {
    if (bridge.frameId === 0 || this.#tapped.has(bridge)) return;
    this.#tapped.add(bridge);
    // Where the page may not run scripts, Chrome never runs the tap, and there are no dialogs: do not wait.
    const late = new Promise<void>((resolve) => setTimeout(resolve, againMs));
    await Promise.race([this.#injectTap(bridge).catch(() => undefined), late]);
  }

  // Injects the tap into a document that is older than the extension: it records the console from now on.
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
    if (this.#added?.has(plugin)) await this.#added.run(bridge, plugin);
    else await this.#injectFile(bridge, plugin);
    const has = (one: Bridge) => one === bridge && one.has(plugin);
    if ((await this.#bridges.when(has, this.patienceMs)) === undefined) {
      throw new Refused('ADAPTER_NOT_READY', `The adapter of ${plugin.name} did not register in the page`);
    }
  }

  async #injectFile(bridge: Bridge, plugin: PluginInfo): Promise<void> {
    const main = plugin.world === 'main';
    if (main) await bridge.expectLate(plugin.name);
    await inject({
      target: { tabId: bridge.tabId, documentIds: [bridge.documentId] },
      files: [plugin.file],
      world: main ? 'MAIN' : 'ISOLATED',
      injectImmediately: true,
    });
  }
}
