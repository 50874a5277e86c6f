// Errors that a plugin throws outside of its handlers: in timers, in event handlers, in promises that nobody awaits.
// They are looked for while somebody works on the plugin, and at no other time. What comes before its first call is
// kept in the document until then.
import { exactly, type Guard, isNumber, isText, listOf, optional, shape } from '../shared/guards.ts';
import {
  defineProperty,
  dropTimer,
  errorEvent,
  indexOf,
  later,
  listen,
  now,
  rejectionReason,
  round,
  slice,
  unlisten,
} from '../shared/primordials.ts';
import { describe, kindOf } from './serialise.ts';
import { hasStack, isOurs, isThrownIn, placeInFile, placesInFile } from './trace.ts';

const mostErrors = 10; // after a call
const followedMs = 10 * 60 * 1000;
const mostCharacters = 2000;

/** One such error, and the plugin's latest call in this document. */
export interface Uncaught {
  kind: 'error' | 'rejection' | 'early'; // early: before the first call
  text: string;
  places: string[]; // in the plugin's file, from the innermost frame on
  id: string;
  tool: string;
  afterMs?: number | undefined; // since the call ended; absent while it runs
}

export const isUncaught: Guard<Uncaught> = shape({
  kind: exactly('error', 'rejection', 'early'),
  text: isText,
  places: listOf(isText),
  id: isText,
  tool: isText,
  afterMs: optional(isNumber),
});

/** What of a call matters here. */
interface Followed {
  id: string;
  correlationId?: string | undefined;
  tool: string;
  follow?: string | undefined;
}

interface Latest {
  id: string;
  tool: string;
  endedAt: number | undefined;
}

// What the browser puts in front of the message of an error event.
const uncaughtStart = 'Uncaught ';

/** Whether an event may be about a plugin: of which one is known once its file is. */
function isLikely(event: Event): boolean {
  const about = errorEvent(event);
  if (about !== undefined) return isOurs(about.file) || isThrownIn(about.error);
  const reason = rejectionReason(event);
  return (
    reason !== undefined && (isThrownIn(reason.value) || (reason.ofThisWorld && !hasStack(reason.value)))
  );
}

export class UncaughtErrors {
  readonly #tell: (error: Uncaught) => void;
  readonly #amongPages: boolean; // the page's own scripts run in this world, too
  #early: (() => void)[] | undefined; // what came before the first call; undefined once there was one
  #file = ''; // of the plugin, as the path of an address
  #latest: Latest | undefined;
  #left = 0;
  #isEarly = false; // what is told now came before the first call
  #stop: (() => void) | undefined;

  constructor(tell: (error: Uncaught) => void, amongPages = false) {
    this.#tell = tell;
    this.#amongPages = amongPages;
  }

  /** Somebody works on the plugin, which is loaded: what it throws from now on is kept until its first call. */
  loaded(): void {
    this.#early = [];
    this.#listen();
  }

  /** A hook of the plugin threw. */
  hookThrew(hook: string, thrown: unknown): void {
    this.#sort(() =>
      this.#say('error', `${hook} failed: ${describe(thrown)}`, placesInFile(thrown, this.#file), true),
    );
  }

  /** A call begins; what it returns is called when it ends. */
  begin({ id, correlationId = id, tool, follow }: Followed): () => void {
    const early = this.#early;
    this.stop();
    if (follow === undefined) return () => {};
    const latest: Latest = { id: correlationId, tool, endedAt: undefined };
    this.#latest = latest;
    this.#file = `/${follow}`;
    this.#left = mostErrors;
    this.#isEarly = true;
    for (let i = 0; early !== undefined && i < early.length; i++) early[i]?.();
    this.#isEarly = false;
    this.#listen();
    return () => {
      latest.endedAt ??= now();
    };
  }

  /** Nobody is told any more. */
  stop(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#latest = this.#early = undefined;
  }

  #listen(): void {
    const onError = (event: Event) => this.#sort(() => this.#threw(event), isLikely(event));
    const onRejection = (event: Event) => this.#sort(() => this.#rejected(event), isLikely(event));
    listen(globalThis, 'error', onError, true);
    listen(globalThis, 'unhandledrejection', onRejection, true);
    const timer = later(() => this.stop(), followedMs);
    this.#stop = () => {
      dropTimer(timer);
      unlisten(globalThis, 'error', onError, true);
      unlisten(globalThis, 'unhandledrejection', onRejection, true);
    };
  }

  // Tells it now, or keeps it for the first call.
  #sort(told: () => void, keep = true): void {
    const early = this.#early;
    if (early === undefined) told();
    else if (keep && early.length < mostErrors)
      defineProperty(early, early.length, { value: told, enumerable: true, configurable: true });
  }

  #threw(event: Event): void {
    const about = errorEvent(event);
    if (about === undefined) return;
    const { error, message, file, line, column } = about;
    // A page that wraps timers and listeners throws the plugin's errors once more, from a file of its own.
    const here = placeInFile(`${file}:${line}:${column}`, this.#file);
    const places = placesInFile(error, this.#file);
    if (places.length > 0 && (here !== undefined || isThrownIn(error, this.#file)))
      this.#say('error', message, places);
    else if (here !== undefined) this.#say('error', message, [here]);
  }

  #rejected(event: Event): void {
    const reason = rejectionReason(event);
    if (reason === undefined) return;
    const { value, ofThisWorld } = reason;
    if (isThrownIn(value, this.#file))
      this.#say('rejection', describe(value), placesInFile(value, this.#file));
    else if (ofThisWorld && !hasStack(value) && !(this.#amongPages && this.#isEarly)) {
      const fix = 'which has no line: reject with new Error(…), or a ToolError';
      this.#say('rejection', `${describe(value)} (${kindOf(value)}, ${fix})`, []);
    }
  }

  #say(kind: Uncaught['kind'], message: string, places: string[], sure = false): void {
    const latest = this.#latest;
    if (latest === undefined || this.#left <= 0) return;
    this.#left--;
    const start = indexOf(message, uncaughtStart) === 0 ? uncaughtStart.length : 0;
    const more = this.#left > 0 ? '' : ' (more of them are not shown until the next call)';
    const { id, tool, endedAt } = latest;
    // A script of the page can give an error any stack it likes, and itself any address.
    const whose = this.#amongPages && !sure ? ' (another script in the main world could forge this)' : '';
    const text = slice(message, start, start + mostCharacters) + whose + more;
    const afterMs = endedAt === undefined ? undefined : round(now() - endedAt);
    if (this.#isEarly) {
      this.#tell({ kind: 'early', text, places, id, tool });
      return;
    }
    this.#tell({ kind, text, places, id, tool, ...(afterMs !== undefined && { afterMs }) });
  }
}
