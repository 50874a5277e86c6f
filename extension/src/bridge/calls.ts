// The calls of this document: what runs, what ended and is not acknowledged yet, and what must never start.
import type { Ending, Order } from '../page/order.ts';
import type { Observer } from '../page/reporting.ts';
import type { AbortReason, Run } from '../page/runtime.ts';
import type { Acting, Mark } from './mark.ts';
import type { FromBridge, Outcome, Phase, Place } from './messages.ts';

/** Starts one call in its adapter, in either world. */
export type Start = (observer: Observer) => Run;

/** The page's console while calls are open. */
export interface Tail {
  ready(): Promise<void> | undefined; // undefined when it listens already
  begin(): number; // a call begins: where the console stands now
  since(mark: number, bytes: number): Promise<string>;
  end(): void; // a call ended
  say(text: string): void; // to whoever looks at the page's console; not captured
  listen(heard: (text: string) => void): () => void; // to every line; what it returns ends that
}

// A handler that ended in the turn it began, while the console is read.
const endedAtOnce: Run = { abort() {}, sign() {} };

const withheld = {
  older: 'This tab was open before the plugin was, and its page could read the secret settings of the plugin',
  reached:
    'Another page opened this tab or holds this frame, and could read the secret settings of the plugin',
} as const;

// What joins the page's console to logs, audit and the agent's answer. What failed and why is only there: a message may
// hold what is not for everybody who looks over a shoulder.
function whatFailed({ id, correlationId = id, plugin, tool }: Order, ending: Ending): string {
  const code = ending.status === 'refused' ? ending.refusal.code : 'an error';
  return `tabrelay: ${plugin}__${tool} ended with ${code}, correlation id ${correlationId}`;
}

const maxTombstones = 1024;
const staleAfterMs = 1500;

export class Calls {
  readonly #running = new Map<string, Run>();
  readonly #waiting = new Map<string, () => void>(); // to be confirmed by the worker, or until the console is watched
  readonly #ended = new Map<string, Outcome>(); // until acknowledged
  readonly #tombstones = new Set<string>();
  readonly #post: (message: FromBridge) => void;
  readonly #find: (order: Order) => Start | undefined;
  readonly #tail: Tail;
  readonly #late: (order: Order) => 'older' | 'reached' | undefined;
  readonly #mark: Pick<Mark, 'begin' | 'end'>;

  constructor(
    post: (message: FromBridge) => void,
    find: (order: Order) => Start | undefined,
    tail: Tail,
    late: (order: Order) => 'older' | 'reached' | undefined,
    mark: Pick<Mark, 'begin' | 'end'>,
  ) {
    this.#post = post;
    this.#find = find;
    this.#tail = tail;
    this.#late = late;
    this.#mark = mark;
  }

  /** Starts a call, unless it is known, was cancelled, or waited so long that the worker must confirm it. */
  start(order: Order, sentAt: number, tailBytes: number, acting?: Acting): void {
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

  outcomes(): Iterable<Outcome> {
    return this.#ended.values();
  }

  #run(order: Order, tailBytes: number, acting: Acting | undefined): void {
    const watched = tailBytes > 0 || order.progressPattern !== undefined;
    const opening = watched ? this.#tail.ready() : undefined;
    if (opening === undefined) {
      this.#begin(order, tailBytes, acting);
      return;
    }
    this.#waiting.set(order.id, () => this.#begin(order, tailBytes, acting));
    opening.then(() => this.go(order.id));
  }

  #begin(order: Order, tailBytes: number, acting: Acting | undefined): void {
    const { id } = order;
    const start = this.#find(order);
    if (start === undefined) {
      this.#post({ type: 'missing', id });
      return;
    }
    const late = this.#late(order);
    if (late !== undefined && order.secret === true) {
      this.#withhold(id, withheld[late]);
      return;
    }
    const deaf = this.#followConsole(order);
    const end = this.#finisher(order, tailBytes);
    const finish = (ending: Ending, late: boolean) => {
      deaf();
      if (acting !== undefined && !late) this.#mark.end();
      end(ending, late);
    };
    this.#running.set(id, endedAtOnce);
    if (acting !== undefined) this.#mark.begin(acting);
    const run = start({
      waiting: () => this.#post({ type: 'waiting', id }),
      started: () => this.#post({ type: 'started', id, origin: location.origin }),
      progress: (step) => this.#post({ type: 'progress', id, step }),
      log: (line) => this.#post({ type: 'log', id, line }),
      ended: (ending) => finish(ending, false),
      late: (ending) => finish(ending, true),
    });
    if (this.#running.has(id)) this.#running.set(id, run);
  }

  // Lines of the page's console that the tool has declared to be progress.
  #followConsole({ id, progressPattern }: Order): () => void {
    if (progressPattern === undefined) return () => {};
    try {
      const pattern = new RegExp(progressPattern);
      return this.#tail.listen((text) => {
        if (pattern.test(text)) this.#running.get(id)?.sign(text);
      });
    } catch {
      return () => {}; // the relay has checked it; a pattern of another dialect matches nothing
    }
  }

  // What becomes of an ending: a failure brings the console, which arrives a little later, and the handler's own end
  // must not overtake the call's.
  #finisher(order: Order, tailBytes: number): (ending: Ending, late: boolean) => void {
    const mark = tailBytes > 0 ? this.#tail.begin() : 0;
    const begunAt = performance.now();
    let first = Promise.resolve();
    return (ending, late) => {
      if (ending.status !== 'returned' && !late) this.#tail.say(whatFailed(order, ending));
      const outcome: Outcome = {
        type: 'outcome',
        id: order.id,
        ending,
        place: this.#place(order, begunAt),
        late,
      };
      if (late) {
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

  #place(order: Order, begunAt: number): Place {
    return {
      origin: location.origin,
      durationMs: Math.round(performance.now() - begunAt),
      ...(window.top !== window && { frame: location.href.slice(0, 2048) }),
      ...(this.#late(order) !== undefined && { trust: 'late' as const }),
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

  #finish(outcome: Outcome): void {
    this.#running.delete(outcome.id);
    this.#ended.set(outcome.id, outcome);
    this.#post(outcome);
  }
}
