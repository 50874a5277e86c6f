// The tools that pages register (WebMCP). Documents are looked at once a call has touched their tab, and followed from
// then on for as long as they live; nothing is put into a page that offers none. What pages have is told to the relay.

import { faultCodes } from '../../protocol/faults.generated.ts';
import type { PluginInfo } from '../../protocol/frames.generated.ts';
import { isFlag, isNumber, isRecord, isText, shape } from '../../shared/guards.ts';
import { urlAllowed } from '../../shared/patterns.ts';
import { Ended, type ToolHandler, type ToolRun } from '../../worker/calls/tool-runner.ts';
import type { Bridge, Bridges } from '../../worker/documents/bridges.ts';
import { isCovered } from '../../worker/documents/document.ts';
import type { Injector } from '../../worker/documents/inject.ts';
import type { Plugins } from '../../worker/documents/plugins.ts';
import type { Tabs } from '../../worker/tabs/tabs.ts';
import { elapsedMs } from '../../worker/util/clock.ts';
import { adapter } from './port.ts';

interface Parts {
  tabs: Tabs;
  bridges: Bridges;
  injector: Injector;
  plugins: Plugins;
  send(tabId: number, documents: string): void;
}

const mostFrames = 30; // of a tab that are looked at
const mostText = 2 << 20; // of a tab, in characters
const tellMs = 250; // between two tellings of one tab
const againMs = [1000, 4000]; // a page can begin to offer tools late
const connectMs = 1500;
const registerMs = 1000; // that a call waits for a page that was just loaded; the relay waits as long
const lookAgainMs = 50; // meanwhile

const isAsked = shape({ name: isText, key: isText, origin: isText, input: isRecord });
const isTools = (value: unknown): value is { tools: unknown[] } =>
  isRecord(value) && Array.isArray(value.tools);
const isThrown = shape({
  thrown: shape({ name: isText, message: isText, ran: isFlag, about: isRecord }),
});

export class PageTools {
  readonly #parts: Parts;
  readonly #told = new Map<Bridge, string>(); // what each document has, as JSON
  readonly #sent = new Map<number, string>(); // by tab
  readonly #timers = new Map<number, ReturnType<typeof setTimeout>>();
  readonly #looking = new Set<number>();
  readonly #again = new Map<number, string>(); // looked at again in a while, while they show this address

  /** The person has switched tools of pages off: no page is looked at. */
  off = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    Reflect.set(globalThis, 'webmcpState', () => ({
      told: Array.from(this.#told).map(([b, t]) => [b.tabId, b.origin, t.length, t.slice(0, 300)]),
      sent: Array.from(this.#sent).map(([t, s]) => [t, s.slice(0, 300)]),
      timers: Array.from(this.#timers.keys()),
      looking: Array.from(this.#looking),
      heard: this.heard,
    }));
  }
  heard: string[] = [];

  /** Looks at what tabs offer, and follows that. */
  follow(tabIds: readonly number[]): void {
    if (this.off) return;
    for (const tabId of tabIds) {
      this.#look(tabId);
      const url = this.#parts.tabs.get(tabId)?.url;
      if (url === undefined || this.#again.get(tabId) === url) continue;
      this.#again.set(tabId, url);
      this.#lookLater(tabId, url);
    }
  }

  async #lookLater(tabId: number, url: string): Promise<void> {
    for (const ms of againMs) {
      await new Promise((resolve) => setTimeout(resolve, ms));
      if (this.#again.get(tabId) !== url) return;
      if (this.#parts.tabs.get(tabId)?.url === url) this.#look(tabId);
    }
    this.#again.delete(tabId);
  }

  /** A document says what it offers. */
  hear(bridge: Bridge, text: string): void {
    this.#told.set(bridge, text);
    this.heard.push(`${Date.now() % 1000000} ${bridge.tabId} ${text.slice(0, 60)} ${text.length}`);
    this.heard = this.heard.slice(-10);
    this.#soon(bridge.tabId);
  }

  gone(bridge: Bridge): void {
    if (this.#told.delete(bridge)) this.#soon(bridge.tabId);
  }

  /** A tab was closed. */
  removed(tabId: number): void {
    clearTimeout(this.#timers.get(tabId));
    this.#timers.delete(tabId);
    this.#sent.delete(tabId);
    this.#again.delete(tabId);
  }

  /** Another relay, or the same over another connection, knows nothing yet. */
  tellAll(): void {
    this.#sent.clear();
    for (const { tabId } of this.#told.keys()) this.#soon(tabId);
  }

  async #look(tabId: number): Promise<void> {
    if (this.off || this.#looking.has(tabId)) return;
    this.#looking.add(tabId);
    try {
      const browser = this.#browser();
      const url = this.#parts.tabs.get(tabId)?.url;
      if (browser === undefined || url === undefined || this.#parts.tabs.get(tabId)?.discarded) return;
      if (!urlAllowed(url, browser.matches, browser.excludes)) return;
      await this.#attach(tabId, browser);
    } catch {
      // The page may not be entered, or went away: then it offers nothing.
    } finally {
      this.#looking.delete(tabId);
    }
  }

  #browser(): PluginInfo | undefined {
    return this.#parts.plugins.get('browser');
  }

  async #attach(tabId: number, { matches, excludes }: PluginInfo): Promise<void> {
    const offering = await documentsThatOffer(tabId);
    if (offering.size === 0) return;
    const frames = (await chrome.webNavigation.getAllFrames({ tabId })) ?? [];
    const wanted = frames
      .filter(({ documentId }) => offering.has(documentId))
      .filter(({ url }) => !/^https?:/.test(url) || urlAllowed(url, matches, excludes))
      .sort((a, b) => a.frameId - b.frameId)
      .slice(0, mostFrames);
    await Promise.all(wanted.map(({ frameId, documentId }) => this.#enter(tabId, frameId, documentId)));
  }

  async #enter(tabId: number, frameId: number, documentId: string): Promise<void> {
    const { bridges, injector } = this.#parts;
    const known = bridges.of(tabId).find((one) => one.documentId === documentId);
    const bridge =
      known ??
      (frameId === 0
        ? await injector.ensureBridge(tabId)
        : await injector.frameBridge(tabId, documentId, connectMs));
    if (bridge === undefined || bridge.documentId !== documentId || !this.#mayOffer(bridge)) return;
    if (!bridge.has(own)) {
      await injector.ensureAdapter(bridge, own);
      await chrome.scripting.executeScript({
        target: { tabId, documentIds: [documentId] },
        files: ['webmcp-page.js'],
        world: 'MAIN',
        injectImmediately: true,
      });
    }
    bridge.send({ type: 'look' });
  }

  #soon(tabId: number): void {
    if (this.#timers.has(tabId)) return;
    const tell = () => {
      this.#timers.delete(tabId);
      this.#tell(tabId);
    };
    this.#timers.set(tabId, setTimeout(tell, tellMs));
  }

  #tell(tabId: number): void {
    let size = 0;
    const documents = this.#of(tabId).flatMap(([{ origin }, text]) => {
      size += text.length;
      return size > mostText ? [] : [`{"origin":${JSON.stringify(origin)},${text.slice(1)}`];
    });
    const payload = `[${documents.join(',')}]`;
    if (payload === (this.#sent.get(tabId) ?? '[]')) return;
    this.#sent.set(tabId, payload);
    this.#parts.send(tabId, payload);
  }

  #mayOffer(bridge: Bridge): boolean {
    const browser = this.#browser();
    const top = this.#parts.bridges.top(bridge.tabId)?.origin;
    return browser !== undefined && /^https?:/.test(bridge.origin) && isCovered(bridge, top, browser);
  }

  #of(tabId: number): [Bridge, string][] {
    return Array.from(this.#told)
      .filter(([bridge]) => bridge.tabId === tabId && this.#mayOffer(bridge))
      .sort(([a], [b]) => a.frameId - b.frameId);
  }

  /** Has a page do what one of its tools does. */
  readonly perform: ToolHandler = async (run) => {
    if (!isAsked(run.args)) throw Ended.as('VALIDATION_ERROR', 'name, key, origin and input are needed');
    const { name, key, origin, input } = run.args;
    const bridge = await this.#offering(run, { name, key, origin });
    if (bridge === undefined) throw gone();
    run.origin = origin;
    return answerOf(await this.#ask(run, bridge, { name, key, input }));
  };

  /** The document that offers a tool. A page that has just come has a moment to register what the one before had. */
  async #offering(
    run: ToolRun,
    tool: { name: string; key: string; origin: string },
  ): Promise<Bridge | undefined> {
    const until = elapsedMs() + Math.min(registerMs, run.leftMs);
    for (;;) {
      const found = this.#of(run.tabId).find(
        ([{ origin }, text]) => origin === tool.origin && has(text, tool.name, tool.key),
      );
      if (found !== undefined || elapsedMs() >= until || run.signal.aborted) return found?.[0];
      await this.#look(run.tabId);
      await new Promise((resolve) => setTimeout(resolve, lookAgainMs));
    }
  }

  #ask(run: ToolRun, bridge: Bridge, args: Record<string, unknown>): Promise<unknown> {
    return run.part(bridge, 'call', args, own);
  }
}

/** The part of the extension that looks at a page's tools, as the injector takes plugins. */
const own: PluginInfo = { ...adapter, world: 'isolated', file: 'webmcp.js', matches: [], excludes: [] };

// In the page's world, where both Chromium's own registry and a polyfill's can be seen.
async function documentsThatOffer(tabId: number): Promise<Set<string>> {
  const found = await chrome.scripting.executeScript({
    target: { tabId, allFrames: true },
    world: 'MAIN',
    injectImmediately: true,
    func: () =>
      Boolean(
        Reflect.get(document, 'modelContext') ??
          Reflect.get(navigator, 'modelContext') ??
          Reflect.get(navigator, 'modelContextTesting'),
      ),
  });
  return new Set(found.flatMap(({ result, documentId }) => (result === true ? [documentId] : [])));
}

function has(text: string, name: string, key: string): boolean {
  const told: unknown = JSON.parse(text);
  return isTools(told) && told.tools.some((tool) => isRecord(tool) && tool.name === name && tool.key === key);
}

const gone = (): Ended =>
  Ended.as('TOOL_GONE', 'The page no longer offers this tool as it was listed', {
    category: 'not_found',
    hint: 'List or search the tools again: the page may offer it in another form.',
  });

// Codes that a page may use because plugins do; every other one of the relay's own would say what the page cannot know.
const shared: readonly string[] = ['NOT_FOUND', 'RATE_LIMITED', 'VALIDATION_ERROR'];
const ownCodes: readonly string[] = faultCodes;

function answerOf(said: unknown): unknown {
  if (isThrown(said)) throw failure(said.thrown);
  if (!isRecord(said) || said.gone === true) throw gone();
  return resultOf(said.value);
}

/** What a page returned; one in the form of MCP says by itself that it failed, and has texts. */
function resultOf(value: unknown): unknown {
  if (!isRecord(value) || !Array.isArray(value.content)) return value;
  const texts = value.content.flatMap((one: unknown) =>
    isRecord(one) && one.type === 'text' && isText(one.text) ? [one.text] : [],
  );
  if (value.isError === true)
    throw failure({
      name: '',
      message: texts.join(' '),
      ran: true,
      about: { data: value.structuredContent },
    });
  if (isRecord(value.structuredContent)) return value.structuredContent;
  return texts.length === value.content.length ? texts.join('\n') : value;
}

interface Thrown {
  name: string;
  message: string;
  ran: boolean; // it is certain that the function ran
  about: Record<string, unknown>;
}

function failure({ name, message, ran, about }: Thrown): Ended {
  const { code, category, retryable, retryAfterMs, data } = about;
  const its = isText(code) && /^[A-Z][A-Z0-9_]{0,63}$/.test(code) ? code : undefined;
  const free = its !== undefined && (shared.includes(its) || !ownCodes.includes(its));
  const words = message === '' ? "The page's function failed and did not say why" : message;
  const more = {
    ...(name !== '' && { name }),
    ...(code !== undefined && { code }),
    ...(data !== undefined && { data }),
  };
  return Ended.as(free ? its : 'PAGE_TOOL_FAILED', words, {
    outcome: ran || free ? 'executed' : 'unknown',
    ...(isText(category) && { category }),
    ...(retryable === true && { retryable }),
    ...(isNumber(retryAfterMs) && { retryAfterMs }),
    ...(Object.keys(more).length > 0 && { data: JSON.stringify(more) }),
  });
}
