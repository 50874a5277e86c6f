// Calls of the browser's own tools run in the worker, because they can need several documents, or Chrome itself: a
// snapshot joins the frames of a page, a navigation outlives its document. Each document does its part in the way of
// a call, and the worker makes the answer.

import type { CallFrame, FromExtension, PluginInfo } from '../../protocol/frames.generated.ts';
import type { Acting, FromBridge, Place } from '../../shared/bridge-messages.ts';
import { isRecord } from '../../shared/guards.ts';
import type { Ending, Line, RefusalCode } from '../../shared/order.ts';
import { urlAllowed } from '../../shared/patterns.ts';
import type { Bridge, Bridges } from '../documents/bridges.ts';
import { isOfOtherOrigin, orderOf } from '../documents/document.ts';
import { type Injector, policyHint, Refused } from '../documents/inject.ts';
import type { References } from '../documents/references.ts';
import { logFrame, progressFrame } from '../link/frames.ts';
import { Border, type Closed, only, type Standing, sayClosed, standing } from '../tabs/sites.ts';
import type { Tabs } from '../tabs/tabs.ts';
import { elapsedMs } from '../util/clock.ts';
import type { Inflight, OpenCall } from './inflight.ts';
import type { Records } from './records.ts';

export interface Parts {
  tabs: Tabs;
  bridges: Bridges;
  injector: Injector;
  records: Records;
  inflight: Inflight;
  references: References;
  acting(frame: OpenCall['frame']): Acting | undefined;
  touched(tabId: number): void; // a call has been done in it
  send(frame: FromExtension): void;
}

/** The error with which a part, or the whole call, ends. */
export class Ended extends Error {
  readonly ending: Ending;

  constructor(ending: Ending) {
    super(ending.status === 'refused' ? ending.refusal.message : ending.status);
    this.ending = ending;
  }

  /** A refusal before anything was done. */
  static before(code: RefusalCode, message: string): Ended {
    return new Ended({
      status: 'refused',
      started: false,
      refusal: { code, message, outcome: 'not_executed' },
    });
  }

  /** A failure in the form of an error that a page throws. */
  static as(code: string, message: string, more: Record<string, unknown> = {}): Ended {
    return new Ended({ status: 'threw', error: { code, message, outcome: 'not_executed', ...more } });
  }

  get code(): string {
    if (this.ending.status === 'refused') return this.ending.refusal.code;
    return this.ending.status === 'threw' ? String(this.ending.error.code) : '';
  }
}

const waiting = ['wait']; // tools that go on in the next document by themselves

/** What a tool answers an agent with. */
export type Content = { type: 'text'; text: string } | { type: 'image'; data: string; mimeType: string };

export const text = (words: string): { content: Content[] } => ({ content: [{ type: 'text', text: words }] });

/** Carries a tool out; what it returns is the answer. */
export type ToolHandler = (run: ToolRun) => Promise<unknown>;

interface Part {
  bridge: Bridge;
  run: ToolRun;
  question: boolean;
  end(ending: Ending, place?: Place): void;
  started(): void;
}

/** One call on its way. */
export class ToolRun {
  readonly call: OpenCall;
  readonly frame: CallFrame;
  readonly plugin: PluginInfo;
  readonly args: Record<string, unknown>;
  readonly signal: AbortSignal;
  readonly border: Border;
  readonly #runner: ToolRunner;
  readonly #began = elapsedMs();
  origin: string | undefined; // of the document that answers, where that is not the tab's
  parts = 0;
  questions = 0;
  started = false;
  #lent: { bridge: Bridge; hear(line: Line): void } | undefined;

  constructor(toolRunner: ToolRunner, about: Pick<ToolRun, 'call' | 'frame' | 'plugin' | 'args' | 'signal'>) {
    this.#runner = toolRunner;
    this.call = about.call;
    this.frame = about.frame;
    this.plugin = about.plugin;
    this.border = Border.of(about.frame, about.plugin);
    this.args = about.args;
    this.signal = about.signal;
  }

  get tabId(): number {
    return this.frame.tabId;
  }

  /** How long the call may still take. */
  get leftMs(): number {
    return Math.max(1, this.frame.timeoutMs - (elapsedMs() - this.#began));
  }

  /** To be called before the worker itself does anything that cannot be undone. */
  begins(): Promise<void> {
    return this.#runner.begins(this);
  }

  /** The document of the tab. */
  top(): Promise<Bridge> {
    return this.#runner.top(this.tabId);
  }

  /** Sets the document that the call is for: the answer has its origin. */
  isFor({ frameId, origin }: Bridge): void {
    if (frameId !== 0 && origin.startsWith('http')) this.origin = origin;
  }

  /** The documents in the tab, each with those around it. */
  standing(): Promise<Standing[]> {
    return this.#runner.standing(this.tabId);
  }

  /** Throws where the call may not touch a document. part calls this itself. */
  admit(bridge: Bridge): Promise<void> {
    return this.#runner.admit(this, bridge);
  }

  /** The error of touching a closed document. */
  closedBy(closed: Closed): Ended {
    return this.#runner.closedBy(this.frame, this.started, closed);
  }

  /** Sets what handles the requests that a document makes of the worker, as lines of its log. */
  lend(bridge: Bridge, hear: (line: Line) => void): void {
    this.#lent = { bridge, hear };
  }

  /** The handler that lend has set for a document. */
  lentTo(bridge: Bridge): ((line: Line) => void) | undefined {
    return this.#lent?.bridge === bridge ? this.#lent.hear : undefined;
  }

  /** Runs a tool in a document as a part of this call, and returns its answer. */
  part(bridge: Bridge, tool: string, args: Record<string, unknown>, plugin?: PluginInfo): Promise<unknown> {
    return this.#runner.part(this, bridge, tool, args, { plugin });
  }

  /** Asks a document something beside this call: nothing begins by it, and its answer never counts for the call. */
  ask(bridge: Bridge, tool: string, args: Record<string, unknown>): Promise<unknown> {
    return this.#runner.part(this, bridge, tool, args, { question: true });
  }
}

export class ToolRunner {
  readonly #parts: Parts;
  readonly #handlers: ReadonlyMap<string, ToolHandler>;
  readonly #standard: ToolHandler;
  readonly #open = new Map<string, AbortController>(); // calls, by id
  readonly #asked = new Map<string, Part>(); // parts, by id
  /** How long a document may take to start a part. */
  startMs = 4000;

  /** standard carries out every tool that has no handler of its own. */
  constructor(parts: Parts, handlers: ReadonlyMap<string, ToolHandler>, standard: ToolHandler = unknownTool) {
    this.#parts = parts;
    this.#handlers = handlers;
    this.#standard = standard;
  }

  /** Carries a call out, and ends it. */
  begin(call: OpenCall, frame: CallFrame, plugin: PluginInfo, args: string): void {
    const controller = new AbortController();
    this.#open.set(frame.id, controller);
    const { inflight } = this.#parts;
    const late = setTimeout(() => {
      const message = `The call took longer than ${frame.timeoutMs} ms`;
      // A page that was asked and is busy may still begin, as soon as it is free.
      const mayBegin = run.started || (frame.write && run.parts > 0);
      inflight.refuse(call, 'TIMEOUT', message, mayBegin ? 'unknown' : 'not_executed');
      controller.abort();
      this.#giveUp(run);
    }, frame.timeoutMs + 500); // after the pages' own clocks, which know more
    const run = new ToolRun(this, {
      call,
      frame,
      plugin,
      args: argumentsOf(args),
      signal: controller.signal,
    });
    const perform = this.#handlers.get(frame.tool) ?? this.#standard;
    const first = this.#parts.bridges.top(frame.tabId);
    const again = !frame.write && !waiting.includes(frame.tool);
    (again ? performAgain(run, perform, () => this.#next(run, first)) : perform(run))
      .then(
        (value): Ending => ({ status: 'returned', value: JSON.stringify(value ?? null) }),
        (why: unknown) => endingOf(why, { started: run.started, write: frame.write }),
      )
      .then((ending) => {
        clearTimeout(late);
        this.#open.delete(frame.id);
        this.#parts.touched(frame.tabId);
        const place = this.#place(call, frame);
        inflight.finish(call, ending, { ...place, origin: run.origin ?? place.origin });
      });
  }

  // The document that a tab shows instead of the one before; undefined: it is the same, or nothing runs in it in time.
  async #next({ tabId, leftMs, frame }: ToolRun, before: Bridge | undefined): Promise<Bridge | undefined> {
    const { injector } = this.#parts;
    const shown = await chrome.webNavigation.getFrame({ tabId, frameId: 0 }).catch(() => null);
    if (shown === null || shown.documentId === before?.documentId) return undefined;
    if (isOfOtherOrigin(frame, shown.url)) return undefined;
    const ms = Math.min(injector.patienceMs, leftMs);
    const late = new Promise<undefined>((resolve) => setTimeout(resolve, ms)); // a page that hangs answers nothing
    const comes = injector.documentBridge(tabId, shown.documentId, ms).catch(() => undefined);
    return Promise.race([comes, late]);
  }

  #place(call: OpenCall, { tabId }: CallFrame): Place {
    const url = this.#parts.bridges.top(tabId)?.url ?? this.#parts.tabs.get(tabId)?.url ?? '';
    return { origin: URL.canParse(url) ? new URL(url).origin : '', durationMs: elapsedMs() - call.beganAt };
  }

  /** Ends a call that runs here; false for any other. */
  cancel(id: string): boolean {
    const controller = this.#open.get(id);
    if (controller === undefined) return false;
    controller.abort();
    for (const [part, { bridge, run }] of this.#asked)
      if (run.frame.id === id) bridge.send({ type: 'cancel', id: part });
    const call = this.#parts.inflight.get(id);
    if (call !== undefined && Array.from(this.#asked.values()).every(({ run }) => run.frame.id !== id))
      this.#parts.inflight.refuse(call, 'CANCELLED', 'The call was cancelled');
    return true;
  }

  // Tells the documents that were asked not to begin any more. What they say from now on is about an abandoned call.
  #giveUp(run: ToolRun): void {
    for (const [id, part] of Array.from(this.#asked)) {
      if (part.run !== run) continue;
      part.bridge.send({ type: 'cancel', id });
      part.end(Ended.before('CANCELLED', 'The call took too long').ending);
    }
  }

  async top(tabId: number): Promise<Bridge> {
    const { bridges, injector } = this.#parts;
    return bridges.top(tabId) ?? injector.ensureBridge(tabId);
  }

  standing(tabId: number): Promise<Standing[]> {
    const known = new Map(this.#parts.bridges.of(tabId).map((one) => [one.documentId, one.origin]));
    return standing(tabId, (documentId) => known.get(documentId));
  }

  async admit(run: ToolRun, bridge: Bridge): Promise<void> {
    const closed = await this.#closed(run.border, bridge);
    if (closed !== undefined) throw this.closedBy(run.frame, run.started, closed);
  }

  /** Why a document is closed to a plugin's call; undefined: it is open. */
  closedFor({ sites, origin = '' }: CallFrame, { excludes }: PluginInfo, bridge: Bridge) {
    return this.#closed(new Border(sites ?? only(origin), (url) => !urlAllowed(url, excludes, [])), bridge);
  }

  async #closed(
    border: Border,
    { tabId, frameId, documentId, origin, url }: Bridge,
  ): Promise<Closed | undefined> {
    if (frameId === 0) return border.closed([{ url: this.#address(tabId, url), origin }]);
    const at = (await this.standing(tabId)).find((one) => one.documentId === documentId);
    if (at === undefined)
      throw Ended.before('TAB_CHANGED', 'The frame went away before the tool started in it');
    return border.closed(at.chain);
  }

  // The address that the tab shows now, where it is of the same site: a page can change its own by history.pushState,
  // to one that the configuration leaves out.
  #address(tabId: number, url: string): string {
    const now = this.#parts.tabs.get(tabId)?.url;
    return now !== undefined && URL.canParse(url) && new URL(now).origin === new URL(url).origin ? now : url;
  }

  closedBy({ tabId, write }: CallFrame, started: boolean, closed: Closed): Ended {
    const url = this.#parts.bridges.top(tabId)?.url ?? this.#parts.tabs.get(tabId)?.url ?? '';
    const within = URL.canParse(url) ? new URL(url).origin : '';
    const { origin, state, excluded } = closed;
    const outcome = started && write ? 'unknown' : 'not_executed';
    if (state === 'policy')
      return Ended.as('BROWSER_POLICY', sayClosed(closed, within), {
        category: 'auth',
        hint: policyHint,
        outcome,
      });
    return Ended.as('SITE_CLOSED', sayClosed(closed, within), {
      category: 'auth',
      outcome,
      data: JSON.stringify({ origin, state, within, ...(excluded && { excluded }) }),
    });
  }

  async part(
    run: ToolRun,
    bridge: Bridge,
    tool: string,
    args: Record<string, unknown>,
    { plugin = run.plugin, question = false }: { plugin?: PluginInfo | undefined; question?: boolean },
  ): Promise<unknown> {
    const { injector, records, references } = this.#parts;
    const { frame } = run;
    if (run.signal.aborted) throw Ended.before('CANCELLED', 'The call was cancelled');
    // A call that the worker began may have led the tab to another site itself.
    const begun = run.parts > 0 || run.started;
    if (!begun && isOfOtherOrigin(frame, (this.#parts.bridges.top(run.tabId) ?? bridge).url))
      throw Ended.before('TAB_CHANGED', 'The tab went to another page before the tool started');
    await run.admit(bridge);
    await injector.ensureAdapter(bridge, plugin);
    if (frame.write && !question) await injector.ensureTap(bridge);
    const first = !question && run.parts++ === 0;
    // The first part of a writing call has the call's id, so that its outcome counts for the call if this worker ends.
    const answers = first && !run.started && frame.write;
    const id = answers ? frame.id : `${frame.id}.${question ? `q${++run.questions}` : run.parts}`;
    const about = await references.about(bridge);
    const more = isRecord(args._) ? args._ : {};
    const lent = run.lentTo(bridge) !== undefined && { trusted: true };
    const text = JSON.stringify({ ...args, _: { ...about, viewer: frame.viewer ?? '', ...more, ...lent } });
    const { tabId, documentId, frameId } = bridge;
    if (answers) {
      await records.recordSent(frame.id, { tabId, documentId, frameId });
      run.call.times?.mark('recorded');
      run.call.bridge = bridge;
    }
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        bridge.send({ type: 'cancel', id });
        end({
          status: 'refused',
          started: false,
          refusal: {
            code: 'TAB_UNRESPONSIVE',
            message: `The page did not start the tool within ${this.startMs / 1000} s: it is busy or hangs`,
            outcome: 'unknown',
          },
        });
      }, this.startMs);
      const end = (ending: Ending, place?: Place) => {
        clearTimeout(timer);
        this.#asked.delete(id);
        run.call.times?.answered(id, place);
        if (place?.nextRef !== undefined) references.given(bridge, place.nextRef);
        if (ending.status !== 'returned') reject(new Ended(ending));
        else resolve(JSON.parse(ending.value));
        if (id !== frame.id) bridge.acknowledge(id);
      };
      this.#asked.set(id, { bridge, run, question, end, started: () => clearTimeout(timer) });
      const order = {
        ...orderOf(frame, plugin, text),
        plugin: plugin.name,
        hash: plugin.hash,
        id,
        tool,
        anywhere: true,
        timeoutMs: run.leftMs,
        maxTimeoutMs: Math.max(run.leftMs, frame.maxTimeoutMs),
      };
      const tailBytes = first ? frame.consoleTailBytes : 0;
      const acting = first ? this.#parts.acting(frame) : undefined;
      run.call.times?.asked(id, tool);
      if (!question) run.call.parts.set(id, bridge);
      bridge.send({ type: 'call', order, sentAt: Date.now(), tailBytes, acting });
    });
  }

  /** Handles a message about a part; false: it is about a call that does not run here. */
  hear(bridge: Bridge, message: FromBridge & { id: string }): boolean {
    const part = this.#asked.get(message.id);
    if (part?.bridge !== bridge) return false;
    const { run } = part;
    switch (message.type) {
      case 'waiting':
        part.started();
        break;
      case 'started':
        part.started();
        if (!part.question) this.#started(run, bridge, message.origin);
        break;
      case 'progress':
        this.#parts.send(progressFrame(run.frame.id, message));
        break;
      case 'log':
        this.#log(run, bridge, message.line);
        break;
      case 'stale':
        bridge.send({ type: run.signal.aborted ? 'cancel' : 'go', id: message.id });
        break;
      case 'missing':
        run.call.parts.delete(message.id);
        part.end(Ended.before('ADAPTER_NOT_READY', 'The page has no adapter with this tool any more').ending);
        break;
      case 'cancelled':
        if (message.phase !== 'never') break;
        run.call.parts.delete(message.id);
        part.end(Ended.before('CANCELLED', 'The call was cancelled').ending);
        break;
      case 'outcome':
        run.call.parts.delete(message.id);
        part.end(message.ending, message.place);
        break;
    }
    return true;
  }

  #log(run: ToolRun, bridge: Bridge, line: Line): void {
    const lent = run.lentTo(bridge);
    if (lent === undefined) this.#parts.send(logFrame(run.frame.id, line));
    else lent(line);
  }

  async begins(run: ToolRun): Promise<void> {
    if (run.signal.aborted) throw Ended.before('CANCELLED', 'The call was cancelled');
    // Of a tab that is not known Chrome says whether it is closed, which ends the call, or shows no web page.
    const { url = '' } = this.#parts.tabs.get(run.tabId) ?? (await chrome.tabs.get(run.tabId));
    if (isOfOtherOrigin(run.frame, url))
      throw Ended.before('TAB_CHANGED', 'The tab went to another page before the tool started');
    const documentId = this.#parts.bridges.top(run.tabId)?.documentId ?? '';
    if (run.frame.write) {
      await this.#parts.records.recordHere(run.frame.id, run.tabId);
      if (run.signal.aborted) throw Ended.before('CANCELLED', 'The call was cancelled');
    }
    this.#started(run, { documentId }, URL.canParse(url) ? new URL(url).origin : '');
  }

  #started(run: ToolRun, { documentId }: Pick<Bridge, 'documentId'>, origin: string): void {
    if (run.started) return;
    run.started = true;
    run.call.phase = 'started';
    this.#parts.send({ type: 'started', id: run.frame.id, documentId, origin });
  }

  /** A document is gone, and with it what it was asked. */
  gone(bridge: Bridge): void {
    for (const part of Array.from(this.#asked.values())) {
      if (part.bridge !== bridge) continue;
      const { started } = part.run;
      const refusal = {
        code: 'TAB_CHANGED',
        message: 'The tab went to another page',
        outcome: 'unknown',
      } as const;
      part.end({ status: 'refused', started, refusal });
    }
  }
}

/**
 * Carries a read out. If its document goes away, it has changed nothing: it is done once more in the document that
 * comes next, if that is of the origin that the call was permitted for.
 */
export async function performAgain<Run extends Pick<ToolRun, 'frame' | 'signal'>>(
  run: Run,
  perform: (run: Run) => Promise<unknown>,
  next: () => Promise<Pick<Bridge, 'url'> | undefined>,
): Promise<unknown> {
  try {
    return await perform(run);
  } catch (why) {
    const isGone = (why instanceof Ended || why instanceof Refused) && why.code === 'TAB_CHANGED';
    if (!isGone || run.signal.aborted) throw why;
    const bridge = await next();
    if (bridge === undefined || isOfOtherOrigin(run.frame, bridge.url) || run.signal.aborted) throw why;
    return perform(run);
  }
}

const unknownTool: ToolHandler = async ({ frame }) => {
  throw Ended.before('ADAPTER_NOT_READY', `The extension does not have the tool ${frame.tool}`);
};

function argumentsOf(args: string): Record<string, unknown> {
  const given: unknown = args === '' ? {} : JSON.parse(args);
  return isRecord(given) ? given : {};
}

/** The ending of a call for what was thrown. After an unexpected error it is unknown how much was done. */
export function endingOf(why: unknown, { started, write }: { started: boolean; write: boolean }): Ending {
  if (why instanceof Ended) return why.ending;
  if (why instanceof Refused) return why.ending;
  const message = why instanceof Error ? why.message : String(why);
  const outcome = started ? (write ? 'unknown' : 'executed') : 'not_executed';
  if (/no tab with id|tab was closed/i.test(message)) {
    const refusal = { code: 'TAB_CLOSED', message: 'The tab was closed', outcome } as const;
    return { status: 'refused', started, refusal };
  }
  const error = { code: 'INTERNAL_ERROR', category: 'internal', retryable: false, message, outcome };
  return { status: 'threw', error };
}
