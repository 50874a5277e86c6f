// The calls of this document: what runs, what ended and is not acknowledged yet, and what must never start.

import type { Observer } from '../page/reporting.ts';
import type { AbortReason, Run } from '../page/runtime.ts';
import type { Acting, FromBridge, OutcomeMessage, Phase, Place } from '../shared/bridge-messages.ts';
import type { CallOrder, Ending } from '../shared/order.ts';
import type { Mark } from './mark.ts';

/** Starts one call in its adapter, in either world. */
export type Start = (observer: Observer) => Run;

/** Hears a line of the console; own: an uncaught error of a plugin. */
export type Heard = (text: string, own: boolean) => void;

/** The page's console while calls are open. */
export interface Tail {
  ready(): Promise<void> | undefined; // undefined when it listens already
  begin(): number; // a call begins: where the console stands now
  since(mark: number, bytes: number): Promise<string>;
  end(): void; // a call ended
  say(text: string): void; // to whoever looks at the page's console; not captured
  listen(heard: Heard): () => void; // to every line; what it returns ends that
  heard(): Promise<void>; // everything that the page wrote before has been passed on
}

// Placeholder while start() runs: a handler may end before it returns.
const endedAtOnce: Run = { abort() {}, progressFromConsole() {} };

const withheld = {
  older: 'This tab was open before the plugin was, and its page could read the secret settings of the plugin',
  reached:
    'Another page opened this tab or holds this frame, and could read the secret settings of the plugin',
} as const;

// Links the page's console to the logs by correlation id. The console line names no reason: the message may be private.
function whatFailed({ id, correlationId = id, plugin, tool }: CallOrder, ending: Ending): string {
  const code = ending.status === 'refused' ? ending.refusal.code : 'an error';
  return `tabrelay: ${plugin}__${tool} ended with ${code}, correlation id ${correlationId}`;
}

/** Whether Chrome slows the timers of this page: of a tab that is not in front, a window that nobody sees. */
const isHidden = (): boolean => document.visibilityState === 'hidden';

const maxTombstones = 1024;
const staleAfterMs = 1500;
const followedLines = 50; // of the page's console, in a call
const followedCharacters = 500;

/** When a handler started and ended, in microseconds since the call came. */
class HandlerTimes {
  readonly #heard = performance.now();
  #startUs: number | undefined;

  #now(): number {
    return Math.round((performance.now() - this.#heard) * 1000);
  }

  started(): void {
    this.#startUs = this.#now();
  }

  /** Undefined: it never started. */
  ended(): Place['times'] {
    return this.#startUs === undefined ? undefined : { startUs: this.#startUs, endUs: this.#now() };
  }
}

/** A call that begins in this document. */
interface Beginning {
  order: CallOrder;
  tailBytes: number;
  acting: Acting | undefined;
  unfollow: () => void;
  spent: HandlerTimes | undefined;
}

export class Calls {
  readonly #running = new Map<string, Run>();
  readonly #waiting = new Map<string, () => void>(); // to be confirmed by the worker, or until the console is watched
  readonly #ended = new Map<string, OutcomeMessage>(); // until acknowledged
  readonly #tombstones = new Set<string>();
  readonly #post: (message: FromBridge) => void;
  readonly #find: (order: CallOrder) => Start | undefined;
  readonly #tail: Tail;
  readonly #exposure: (order: CallOrder) => 'older' | 'reached' | undefined;
  readonly #mark: Pick<Mark, 'begin' | 'end'>;

  constructor(
    post: (message: FromBridge) => void,
    find: (order: CallOrder) => Start | undefined,
    tail: Tail,
    exposure: (order: CallOrder) => 'older' | 'reached' | undefined,
    mark: Pick<Mark, 'begin' | 'end'>,
  ) {
    this.#post = post;
    this.#find = find;
    this.#tail = tail;
    this.#exposure = exposure;
    this.#mark = mark;
  }

  /** Starts a call, unless it is known, was cancelled, or waited so long that the worker must confirm it. */
  start(order: CallOrder, sentAt: number, tailBytes: number, acting?: Acting): void {
    const { id } = order;
    const outcome = this.#ended.get(id);
    if (outcome !== undefined) {
      this.#post(outcome);
      return;
    }
    if (this.#tombstones.has(id) || this.#running.has(id) || this.#waiting.has(id)) return;
    if (Math.abs(Date.now() - sentAt) > staleAfterMs) {
      this.#waiting.set(id, () => this.#run(order, tailBytes, acting));
      this.#post({ type: 'stale', id });
      return;
    }
    this.#run(order, tailBytes, acting);
  }

  go(id: string): void {
    const run = this.#waiting.get(id);
    this.#waiting.delete(id);
    run?.();
  }

  /** Aborts a call, or makes sure that it never starts here. */
  cancel(id: string): Phase {
    const phase = this.phase(id);
    this.#running.get(id)?.abort('cancelled');
    return phase;
  }

  /** How far a call got; one that never came will not start later. */
  phase(id: string): Phase {
    if (this.#running.has(id)) return 'running';
    if (this.#ended.has(id)) return 'finished';
    this.#waiting.delete(id);
    this.#tombstones.add(id);
    for (const oldest of this.#tombstones) {
      if (this.#tombstones.size <= maxTombstones) break;
      this.#tombstones.delete(oldest);
    }
    return 'never';
  }

  acknowledge(ids: readonly string[]): void {
    for (const id of ids) this.#ended.delete(id);
  }

  /** The worker died: a call it had not confirmed is dropped, and it is told so when it asks. */
  forgetUnconfirmed(): void {
    this.#waiting.clear();
  }

  abortAll(reason: AbortReason): void {
    for (const run of this.#running.values()) run.abort(reason);
  }

  get idle(): boolean {
    return this.#running.size === 0 && this.#ended.size === 0;
  }

  running(): string[] {
    return Array.from(this.#running.keys());
  }

  outcomes(): Iterable<OutcomeMessage> {
    return this.#ended.values();
  }

  #run(order: CallOrder, tailBytes: number, acting: Acting | undefined): void {
    const spent = order.timed === true ? new HandlerTimes() : undefined;
    const watched = tailBytes > 0 || order.progressPattern !== undefined;
    const opened = watched ? this.#tail.ready() : undefined;
    const unfollow = this.#tellConsole(order);
    const opening = order.follow === undefined ? opened : this.#tail.heard();
    if (opening === undefined) {
      this.#begin({ order, tailBytes, acting, unfollow, spent });
      return;
    }
    this.#waiting.set(order.id, () => this.#begin({ order, tailBytes, acting, unfollow, spent }));
    opening.then(() => this.go(order.id));
  }

  #begin({ order, tailBytes, acting, unfollow, spent }: Beginning): void {
    const { id } = order;
    const start = this.#find(order);
    if (start === undefined) {
      unfollow();
      this.#post({ type: 'missing', id });
      return;
    }
    const exposure = this.#exposure(order);
    if (exposure !== undefined && order.secret === true) {
      unfollow();
      this.#withhold(id, withheld[exposure]);
      return;
    }
    const unsubscribe = this.#takeProgress(order);
    const end = this.#finisher(order, tailBytes, spent);
    const finish = (ending: Ending, afterCall: boolean) => {
      unsubscribe();
      unfollow();
      if (acting !== undefined && !afterCall) this.#mark.end();
      end(ending, afterCall);
    };
    this.#running.set(id, endedAtOnce);
    if (acting !== undefined) this.#mark.begin(acting);
    const run = start({
      waiting: () => this.#post({ type: 'waiting', id }),
      started: () => {
        spent?.started();
        this.#post({ type: 'started', id, origin: location.origin, hidden: isHidden() });
      },
      progress: (step) => this.#post({ type: 'progress', id, step, hidden: isHidden() }),
      log: (line) => this.#post({ type: 'log', id, line }),
      ended: (ending) => finish(ending, false),
      late: (ending) => finish(ending, true),
    });
    if (this.#running.has(id)) this.#running.set(id, run);
  }

  // What the page writes to its console while somebody works on the plugin; what it returns ends that.
  #tellConsole({ id, correlationId = id, plugin, tool, follow }: CallOrder): () => void {
    if (follow === undefined) return () => {};
    let left = followedLines;
    const stop = this.#tail.listen((line, own) => {
      if (own || left-- <= 0) return;
      const text = left > 0 ? line.slice(0, followedCharacters) : 'more of it is not shown for this call';
      this.#post({ type: 'followed', id: correlationId, plugin, tool, kind: 'console', text });
    });
    let ending = false;
    return () => {
      if (ending) return;
      ending = true;
      this.#tail.heard().then(stop);
    };
  }

  // Lines of the page's console that the tool has declared to be progress.
  #takeProgress({ id, progressPattern }: CallOrder): () => void {
    if (progressPattern === undefined) return () => {};
    try {
      const pattern = new RegExp(progressPattern);
      return this.#tail.listen((text) => {
        if (pattern.test(text)) this.#running.get(id)?.progressFromConsole(text);
      });
    } catch {
      return () => {}; // the relay has checked it; a pattern of another dialect matches nothing
    }
  }

  // What becomes of an ending: a failure brings the console, which arrives a little later, and the handler's own end
  // must not overtake the call's.
  #finisher(
    order: CallOrder,
    tailBytes: number,
    spent: HandlerTimes | undefined,
  ): (ending: Ending, afterCall: boolean) => void {
    const mark = tailBytes > 0 ? this.#tail.begin() : 0;
    const begunAt = performance.now();
    let first = Promise.resolve();
    return (ending, afterCall) => {
      if (ending.status !== 'returned' && !afterCall) this.#tail.say(whatFailed(order, ending));
      const outcome: OutcomeMessage = {
        type: 'outcome',
        id: order.id,
        ending,
        place: this.#place(order, begunAt, spent?.ended()),
        late: afterCall,
      };
      if (afterCall) {
        first.then(() => this.#finish(outcome));
      } else if (tailBytes === 0 || ending.status === 'returned') {
        if (tailBytes > 0) this.#tail.end();
        this.#finish(outcome);
      } else {
        first = this.#tail.since(mark, tailBytes).then((consoleTail) => {
          this.#tail.end();
          if (consoleTail !== '') outcome.place.consoleTail = consoleTail;
          this.#finish(outcome);
        });
      }
    };
  }

  #place(order: CallOrder, begunAt: number, times: Place['times']): Place {
    return {
      origin: location.origin,
      durationMs: Math.round(performance.now() - begunAt),
      ...(window.top !== window && { frame: location.href.slice(0, 2048) }),
      ...(this.#exposure(order) !== undefined && { trust: 'late' as const }),
      ...(order.anywhere === true && { nextRef: globalThis.tabrelayReferences?.table.next }),
      ...(times !== undefined && { times }),
    };
  }

  // Who ran scripts before the adapter came could read the settings, and some of them are secret.
  #withhold(id: string, message: string): void {
    const refusal = {
      code: 'ADAPTER_NOT_READY',
      message,
      outcome: 'not_executed',
      reason: 'withheld',
    } as const;
    const ending = { status: 'refused', started: false, refusal } as const;
    this.#finish({
      type: 'outcome',
      id,
      ending,
      place: { origin: location.origin, durationMs: 0 },
      late: false,
    });
  }

  #finish(outcome: OutcomeMessage): void {
    this.#running.delete(outcome.id);
    this.#ended.set(outcome.id, outcome);
    this.#post(outcome);
  }
}
