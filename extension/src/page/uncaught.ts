// Errors that a plugin throws outside of its handlers: in timers, in event handlers, in promises that nobody awaits.
// They are looked for while somebody works on the plugin, and at no other time.
import { exactly, type Guard, isNumber, isRecord, isText, listOf, optional, shape } from './guards.ts';
import {
  dropTimer,
  errorEvent,
  indexOf,
  later,
  listen,
  now,
  property,
  rejectionReason,
  round,
  slice,
  stringOf,
  unlisten,
} from './primordials.ts';
import { serialiseThrown } from './serialise.ts';
import { isThrownIn, placeInFile, placesInFile } from './trace.ts';

const mostErrors = 10; // after a call
const followedMs = 10 * 60 * 1000;
const mostCharacters = 2000;

/** One such error, and the plugin's latest call in this document. */
export interface Uncaught {
  kind: 'error' | 'rejection';
  text: string;
  places: string[]; // in the plugin's file, from the innermost frame on
  id: string;
  tool: string;
  afterMs?: number | undefined; // since the call ended; absent while it runs
}

export const isUncaught: Guard<Uncaught> = shape({
  kind: exactly('error', 'rejection'),
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

function textOf(thrown: unknown): string {
  const name: unknown = isRecord(thrown) ? property(thrown, 'name', thrown) : undefined;
  const message = stringOf(serialiseThrown(thrown).message);
  return isText(name) && name !== '' ? `${name}: ${message}` : message;
}

export class UncaughtErrors {
  readonly #tell: (error: Uncaught) => void;
  #file = ''; // of the plugin, as the path of an address
  #latest: Latest | undefined;
  #left = 0;
  #stop: (() => void) | undefined;

  constructor(tell: (error: Uncaught) => void) {
    this.#tell = tell;
  }

  /** A call begins; what it returns is called when it ends. */
  begin({ id, correlationId = id, tool, follow }: Followed): () => void {
    if (follow === undefined) {
      this.stop();
      return () => {};
    }
    const latest: Latest = { id: correlationId, tool, endedAt: undefined };
    this.#latest = latest;
    this.#file = `/${follow}`;
    this.#left = mostErrors;
    this.#listen();
    return () => {
      latest.endedAt ??= now();
    };
  }

  /** Nobody is told any more. */
  stop(): void {
    this.#stop?.();
  }

  #listen(): void {
    this.stop();
    const onError = (event: Event) => this.#threw(event);
    const onRejection = (event: Event) => this.#rejected(event);
    listen(globalThis, 'error', onError, true);
    listen(globalThis, 'unhandledrejection', onRejection, true);
    const timer = later(() => this.stop(), followedMs);
    this.#stop = () => {
      dropTimer(timer);
      unlisten(globalThis, 'error', onError, true);
      unlisten(globalThis, 'unhandledrejection', onRejection, true);
      this.#stop = undefined;
    };
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
    if (isThrownIn(reason.value, this.#file))
      this.#say('rejection', textOf(reason.value), placesInFile(reason.value, this.#file));
  }

  #say(kind: Uncaught['kind'], message: string, places: string[]): void {
    const latest = this.#latest;
    if (latest === undefined || this.#left <= 0) return;
    this.#left--;
    const start = indexOf(message, uncaughtStart) === 0 ? uncaughtStart.length : 0;
    const more = this.#left > 0 ? '' : ' (more of them are not shown until the next call)';
    const { id, tool, endedAt } = latest;
    const text = slice(message, start, start + mostCharacters) + more;
    const afterMs = endedAt === undefined ? undefined : round(now() - endedAt);
    this.#tell({ kind, text, places, id, tool, ...(afterMs !== undefined && { afterMs }) });
  }
}
