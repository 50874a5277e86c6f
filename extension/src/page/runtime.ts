// One call's life in a document: check the address, wait until the adapter is ready, start the tool under one
// AbortSignal and one clock, and report its end once. Runs in both worlds; see primordials.ts.

import type { CallOrder, Ending, Refusal } from '../shared/order.ts';
import { urlAllowed } from '../shared/patterns.ts';
import {
  abortable,
  call,
  defineProperty,
  dropTimer,
  indexOf,
  isAsync,
  isPromise,
  later,
  max,
  min,
  now,
  parseJson,
  property,
  round,
  settle,
  slice,
  stringOf,
  thenIsPatched,
} from '../shared/primordials.ts';
import { type Clock, type Expiry, expiryText, startClock } from './clock.ts';
import type { Adapter, Callable, Tool } from './definition.ts';
import type { HookName } from './hooks.ts';
import { losses } from './losses.ts';
import { type Observer, type Reports, reporting } from './reporting.ts';
import { settingsHere } from './scope.ts';
import {
  cut,
  describe,
  eachReason,
  fitsIn,
  kindOf,
  legible,
  serialiseThrown,
  serialiseValue,
} from './serialise.ts';
import { awaitSignIn, loginAddress } from './sign-in.ts';
import { hasStack, placesInFile, traceLine } from './trace.ts';

export type AbortReason = 'cancelled' | 'document';

/** A call that runs. Aborting it ends it at once for everyone but its handler, which is told by its signal. */
export interface Run {
  abort(reason: AbortReason): void;
  progressFromConsole(message: string): void; // a line that the tool declares to be progress
}

const becomingReadyMs = 2000; // for isReady to say yes, asked again: applications show themselves before they can work
const askAgainMs = 200;
const answerMs = 5000; // left of the time of a call that waits, one half for each wait

const refused = (started: boolean, refusal: Refusal): Ending => ({ status: 'refused', started, refusal });

function returned(value: unknown, order: CallOrder): Ending {
  const encoded = serialiseValue(value);
  if ('problem' in encoded) {
    // No JSON, and so the relay refuses it by its first line, and keeps it to be read.
    const lineEnd = indexOf(encoded.problem, '\n');
    const reason = cut(lineEnd < 0 ? encoded.problem : slice(encoded.problem, 0, lineEnd), 4096);
    const message = `The tool's result is not JSON: ${reason}`;
    return (
      thrownWhileRead(message, encoded.thrown, order) ?? {
        status: 'returned',
        value: `${message}\n${legible(value)}`,
      }
    );
  }
  if (fitsIn(encoded.text, order.maxResultBytes)) return { status: 'returned', value: encoded.text };
  const message = `The result has more than ${order.maxResultBytes} bytes (${encoded.text.length} characters)`;
  return refused(true, { code: 'OUTPUT_TOO_LARGE', message, outcome: 'executed' });
}

/** Where code of the plugin, such as a getter of the result, threw: for whoever follows its calls. */
function thrownWhileRead(message: string, thrown: unknown, { follow }: CallOrder): Ending | undefined {
  const places = follow === undefined ? [] : placesInFile(thrown, `/${follow}`);
  if (places.length === 0) return undefined;
  const said = { code: 'INVALID_OUTPUT', category: 'internal', retryable: false, outcome: 'executed' };
  return { status: 'threw', error: { __proto__: null, ...said, message, places } };
}

// The page takes what an async tool returns, and could put something else in its place, or nothing.
const patchedThen = (started: boolean, outcome: Refusal['outcome']): Ending =>
  refused(started, {
    code: 'INVALID_OUTPUT',
    message:
      'The page has put a `then` on all data, which takes what an async tool returns and can replace it',
    outcome,
  });

function parseArguments(order: CallOrder): unknown {
  return order.args === '' ? {} : parseJson(order.args);
}

class PageRun implements Run {
  readonly #order: CallOrder;
  readonly #adapter: Adapter;
  readonly #tool: Tool;
  readonly #observer: Observer;
  readonly #lifetime = abortable();
  readonly #reports: Reports;
  readonly #clock: Clock;
  readonly #settings: Record<string, unknown>;
  readonly #leave: () => void; // the plugin's scope
  #started = false;
  #over = false;

  constructor(order: CallOrder, adapter: Adapter, tool: Tool, observer: Observer) {
    this.#order = order;
    this.#adapter = adapter;
    this.#tool = tool;
    this.#observer = observer;
    this.#clock = startClock(order, (reason) => this.#expire(reason));
    this.#reports = reporting(observer, {
      open: () => !this.#over,
      onProgress: () => this.#clock.progress(),
    });
    this.#settings = settingsHere(order.settings ?? {}, location.href);
    const leave = adapter.scope.begin(this.#settings, this.#reports.log);
    const over = adapter.uncaught.begin(order);
    this.#leave = () => {
      leave();
      over();
    };
  }

  start(): void {
    if (this.#adapter.isReady === undefined) this.#begin();
    else this.#awaitReady(this.#adapter.isReady);
  }

  progressFromConsole(message: string): void {
    if (this.#started) this.#reports.progress({ message });
  }

  abort(reason: AbortReason): void {
    if (this.#over) return;
    const outcome = this.#started ? 'unknown' : 'not_executed';
    const [code, message] =
      reason === 'cancelled'
        ? (['CANCELLED', 'The call was cancelled'] as const)
        : (['TAB_CHANGED', 'The document went away while the tool ran'] as const);
    this.#end(refused(this.#started, { code, message, outcome }));
    this.#lifetime.abort('AbortError', message);
  }

  #awaitReady(isReady: Callable): void {
    let why = ' (isReady did not answer)';
    let answered = false;
    let pause: ReturnType<typeof setTimeout> | undefined;
    const answer = (ready: boolean) => {
      if (answered) return;
      answered = true;
      dropTimer(timer);
      if (pause !== undefined) dropTimer(pause);
      unsubscribe();
      if (this.#over) return;
      if (ready) this.#begin();
      else this.#end(refused(false, this.#notReady(why)));
    };
    const no = (because: string) => {
      if (answered) return;
      why = because;
      if (this.#over) answer(false);
      else pause = later(ask, askAgainMs);
    };
    const failed = (thrown: unknown) => no(`: ${stringOf(serialiseThrown(thrown).message)}`);
    const said = (ready: unknown) => {
      if (ready === true) answer(true);
      else no('');
    };
    const ask = () => {
      pause = undefined;
      try {
        settle(call(isReady, this.#adapter.self, []), said, failed);
      } catch (thrown) {
        failed(thrown);
      }
    };
    const unsubscribe = this.#adapter.scope.onReadiness(() => {
      if (pause === undefined) return; // it is being asked
      dropTimer(pause);
      ask();
    });
    const half = this.#order.timeoutMs / 2;
    const timer = later(() => answer(false), this.#tool.waits ? half : min(becomingReadyMs, half));
    this.#observer.waiting();
    ask();
  }

  #notReady(why: string): Refusal {
    const message = cut(`The page is not ready for this plugin${why}`, 4096);
    const { signIn } = this.#tool;
    const address = signIn === undefined ? '' : loginAddress(signIn);
    return {
      code: 'ADAPTER_NOT_READY',
      message,
      outcome: 'not_executed',
      reason: 'not_ready',
      ...(address !== '' && { signIn: cut(address, 2048) }),
    };
  }

  #begin(): void {
    const { matches, excludes, anywhere } = this.#order;
    // Here and not earlier: a single-page application changes its address without a new document.
    if (anywhere !== true && !urlAllowed(location.href, matches, excludes)) {
      const message = 'The tab moved to an address this plugin does not serve';
      this.#end(refused(false, { code: 'TAB_CHANGED', message, outcome: 'not_executed' }));
      return;
    }
    if (isAsync(this.#tool.handle) && thenIsPatched()) {
      this.#end(patchedThen(false, 'not_executed'));
      return;
    }
    this.#started = true;
    this.#observer.started();
    const { signIn } = this.#tool;
    const failed = (thrown: unknown) => this.#end(this.#threw(thrown));
    if (signIn === undefined) this.#handle();
    else
      awaitSignIn(
        signIn,
        this.#tool.waits ? max(0, this.#order.timeoutMs / 2 - answerMs) : signIn.waitMs,
        () => this.#over,
        () => this.#handle(),
        failed,
      );
  }

  #handle(): void {
    const { tool } = this.#order;
    this.#hook('onToolInvocationStart', [tool]);
    const begun = now();
    const done = (success: boolean, ending: Ending) => {
      this.#hook('onToolInvocationEnd', [tool, success, round(now() - begun)]);
      this.#end(ending);
    };
    const threw = (thrown: unknown) => done(false, this.#threw(thrown));
    try {
      const args = [parseArguments(this.#order), this.#context()];
      const value: unknown = call(this.#tool.handle, this.#tool.self, args);
      const later = isPromise(value);
      const answered = (settled: unknown) => {
        this.#warnOfLosses(settled);
        const ending = returned(settled, this.#order);
        this.#warnOfSize(ending);
        if (later && thenIsPatched()) done(false, patchedThen(true, 'executed'));
        else done(true, ending);
      };
      settle(value, answered, threw);
      // The handler may still end later; reported as late.
      if (later && thenIsPatched()) this.#end(patchedThen(true, 'unknown'));
    } catch (thrown) {
      threw(thrown);
    }
  }

  #hook(name: HookName, args: readonly unknown[]): void {
    this.#adapter.hooks.tell(name, args, (thrown) =>
      this.#reports.log.warn(`${name} failed: ${stringOf(serialiseThrown(thrown).message)}`),
    );
  }

  /** Only whoever follows the calls of a plugin can do something about what its results lose. */
  #warnOfLosses(result: unknown): void {
    if (this.#order.trace !== true) return;
    const found = losses(result);
    for (let i = 0; i < found.length; i++) this.#reports.log.warn(found[i]);
  }

  #warnOfSize(ending: Ending): void {
    if (this.#order.follow === undefined || ending.status !== 'refused') return;
    this.#reports.log.warn(
      'Answer in parts (listPage, textPage of @tabrelay/plugin-sdk/paging), or return only the fields that matter',
    );
  }

  #threw(thrown: unknown): Ending {
    const error = serialiseThrown(thrown);
    const { follow, trace } = this.#order;
    const line = trace === true ? traceLine(thrown) : undefined;
    if (line !== undefined) defineProperty(error, 'traceLine', { value: line, enumerable: true });
    const places = follow === undefined ? [] : this.#explain(thrown, `/${follow}`);
    if (places.length > 0) defineProperty(error, 'places', { value: places, enumerable: true });
    return { status: 'threw', error };
  }

  /** Says what an error does not say itself, for whoever follows the calls of the plugin; its places in the file. */
  #explain(thrown: unknown, file: string): string[] {
    const { warn } = this.#reports.log;
    let places = placesInFile(thrown, file);
    eachReason(thrown, (what, reason) => {
      warn(`${what} ${describe(reason)}`);
      if (places.length === 0) places = placesInFile(reason, file);
    });
    if (places.length > 0) return places;
    warn(
      hasStack(thrown)
        ? 'None of your lines is in its stack: catch it where it is awaited, and throw new Error(…, { cause: it })'
        : `The handler threw ${kindOf(thrown)}, which has no line: throw new Error(…), or a ToolError`,
    );
    return places;
  }

  // What the SDK documents as the second argument of a handler.
  #context(): object {
    const outermost: unknown = property(globalThis, 'top');
    return {
      signal: this.#lifetime.signal,
      reportProgress: this.#reports.progress,
      log: this.#reports.log,
      settings: this.#settings,
      maxBytes: this.#order.maxBytes,
      tab: { id: this.#order.tabId, url: location.href },
      frame: { url: location.href, top: outermost === globalThis },
      idempotencyKey: this.#order.id,
    };
  }

  #expire(reason: Expiry): void {
    if (this.#started && thenIsPatched()) {
      this.#end(patchedThen(true, 'unknown')); // the answer may have gone there
      this.#lifetime.abort('TimeoutError', expiryText(reason, this.#order));
      return;
    }
    const message = expiryText(reason, this.#order);
    const outcome = this.#started ? 'unknown' : 'not_executed';
    this.#end(refused(this.#started, { code: 'TIMEOUT', reason, message, outcome }));
    this.#lifetime.abort('TimeoutError', message);
  }

  #end(ending: Ending): void {
    if (this.#over) {
      // The call had ended without its handler: this is the handler's own end, which frees the tab.
      this.#observer.late(ending);
      return;
    }
    this.#reports.flush();
    this.#over = true;
    this.#clock.stop();
    this.#leave();
    this.#observer.ended(ending);
  }
}

/** Starts one call. Everything it has to say goes to observer; ended is called exactly once. */
export function startRun(order: CallOrder, adapter: Adapter, tool: Tool, observer: Observer): Run {
  const run = new PageRun(order, adapter, tool, observer);
  run.start();
  return run;
}
