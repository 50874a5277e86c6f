import type { FormFields } from './query.ts';

export interface Log {
  debug(message: string, data?: unknown): void;
  info(message: string, data?: unknown): void;
  warn(message: string, data?: unknown): void;
  error(message: string, data?: unknown): void;
}

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

/**
 * What the page's runtime lends to one plugin's bundle. Each bundle has a copy of this module, so no two plugins of a
 * tab see each other's, and nothing of it hangs on a global that the page could read.
 */
export interface Scope {
  readonly settings: Readonly<Record<string, unknown>>;
  /** What the pre-script set, by key; undefined when it did not run in this document. */
  readonly preScript: { get(key: string): unknown } | undefined;
  /** Of the call that began last and is still open. */
  readonly log: Log | undefined;
  /** What requests are made of in the main world, where the page could replace it. */
  readonly network: Network | undefined;
  /** Asks the plugin's isReady again, for calls that wait for it. */
  readonly readinessChanged: () => void;
}

let scope: Scope | undefined;

/** Called by the page's runtime before it calls anything of the plugin. */
export function enter(entered: Scope): void {
  scope = entered;
}

export const currentScope = (): Scope | undefined => scope;

/** The value of one of the plugin's settings; undefined when the person gave none. Handlers have `ctx.settings`. */
export function getConfig(key: string): unknown {
  const settings: Record<string, unknown> = { __proto__: null, ...scope?.settings };
  return settings[key];
}

/** What the plugin's pre-script kept under this key; undefined when it did not, or ran in an earlier document. */
export const getPreScriptValue = (key: string): unknown => scope?.preScript?.get(key);

/** Tells the runtime that isReady would answer otherwise now: calls that wait for it go on at once. */
export const notifyReadinessChanged = (): void => scope?.readinessChanged();

/**
 * Log lines from code that has no context at hand. They belong to the call that began last; a handler that may run
 * beside others logs with `ctx.log`. Outside of calls they go to the page's console.
 */
export const log: Log = {
  debug: (message, data) => (scope?.log ?? console).debug(message, data),
  info: (message, data) => (scope?.log ?? console).info(message, data),
  warn: (message, data) => (scope?.log ?? console).warn(message, data),
  error: (message, data) => (scope?.log ?? console).error(message, data),
};
