import { type FormFields, urlEncoded } from './query.ts';
import { currentScope } from './scope.ts';

/**
 * What requests need of the browser. A page of the main world can replace all of it, so the page's runtime lends
 * functions there that it took before any script of the page ran (extension/src/page/network.ts). Everywhere else the
 * global functions are used as they are at each request, so that tests may put others in their place.
 */
export interface Network {
  /** A request that is about to be sent, with `defaults` for the headers that the caller has not named. */
  open(
    input: string | URL | Request,
    init: RequestInit,
    defaults: Readonly<Record<string, string>>,
    timeoutMs: number,
  ): Outgoing;
  reply(response: Response): Reply;
  /** Reads JSON; undefined when there is nothing but blanks. */
  parse(text: string): unknown;
  stringify(value: unknown): string | undefined;
  form(fields: FormFields): URLSearchParams;
  /** A promise that gives `await` its own value, whatever the page did to promises. */
  keep<T>(promise: Promise<T>): Promise<T>;
  /** Whether the page has hung a `then` where promises ask every answer for one: it could put another in its place. */
  answersAreTaken(): boolean;
}

export interface Outgoing {
  readonly url: string;
  readonly method: string;
  send(): Promise<Response>;
  /** Throws the reason of the caller's signal when that has fired. */
  throwIfAborted(): void;
  /** Whether the time for the answer is over. */
  expired(): boolean;
}

export interface Reply {
  readonly ok: boolean;
  readonly status: number;
  readonly url: string;
  header(name: string): string | null;
  text(): Promise<string>;
  copy(): Response;
}

const ofThePage: Network = {
  open(input, init, defaults, timeoutMs) {
    const headers = new Headers(init.headers ?? (input instanceof Request ? input.headers : undefined));
    for (const [name, value] of Object.entries(defaults)) {
      if (!headers.has(name)) headers.set(name, value);
    }
    const request = new Request(input, { credentials: 'include', ...init, headers });
    const clock = AbortSignal.timeout(timeoutMs);
    return {
      url: request.url,
      method: request.method,
      send: () => fetch(request, { signal: AbortSignal.any([request.signal, clock]) }),
      throwIfAborted: () => request.signal.throwIfAborted(),
      expired: () => clock.aborted,
    };
  },
  reply: (response) => ({
    ok: response.ok,
    status: response.status,
    url: response.url,
    header: (name) => response.headers.get(name),
    text: () => response.text(),
    copy: () => response.clone(),
  }),
  parse: (text) => (text.trim() === '' ? undefined : JSON.parse(text)),
  stringify: (value) => JSON.stringify(value),
  form: urlEncoded,
  keep: (promise) => promise,
  answersAreTaken: () => false,
};

export const network = (): Network => currentScope()?.network ?? ofThePage;
