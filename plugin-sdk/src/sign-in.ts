import { network } from './network.ts';
import type { Reply } from './scope.ts';
import { sleep } from './timing.ts';
import { type Outcome, ToolError } from './tool-error.ts';

/** How a plugin knows that a person is signed in. */
export interface SignIn {
  /**
   * Whether somebody is signed in on this page, now. Asked before each call; it must not change anything. Left out,
   * tools run for everybody, and only the answers of the site say that a session is over.
   */
  isSignedIn?(): boolean | Promise<boolean>;
  /** Where to sign in, absolute or relative to the page. */
  readonly loginUrl: string | (() => string);
  /**
   * How long a page may take to know it, in milliseconds: applications show themselves before they do. Default 2000.
   */
  readonly waitMs?: number;
  /**
   * Whether a page that the site answers with is the one to sign in on: what it sends when the session is over. Asked
   * of every successful answer in HTML; the call then fails with AUTH_ERROR. Besides, a page with a password field
   * counts as one where the plugin asked for JSON.
   */
  isLoginPage?(html: string): boolean;
}

const lookEveryMs = 100;

/** Waits until somebody is signed in, or fails with AUTH_ERROR and the address where to sign in. */
export async function requireSignIn(signIn: SignIn, signal?: AbortSignal): Promise<void> {
  const end = performance.now() + (signIn.waitMs ?? 2000);
  while ((await signIn.isSignedIn?.()) === false) {
    const left = end - performance.now();
    if (left <= 0) throw signedOut(signIn);
    await sleep(Math.min(lookEveryMs, left), { signal });
  }
}

/**
 * The failure that nobody is signed in, with the address where to. `outcome` is what became of the request: a site that
 * refused it did nothing, and one that answered a write with a page to sign in on may have done it.
 */
export function signedOut({ loginUrl }: SignIn, outcome: Outcome = 'not_executed'): ToolError {
  const { href } = new URL(typeof loginUrl === 'string' ? loginUrl : loginUrl(), location.href);
  const message =
    outcome === 'not_executed'
      ? `Nobody is signed in. Ask the person to sign in at ${href}, then call again.`
      : 'The site answered with a page to sign in on, and may have made the change. If nobody is signed in, ask the ' +
        `person to sign in at ${href}, and look at what is there before you repeat the call.`;
  return new ToolError(message, 'AUTH_ERROR', { category: 'auth', outcome });
}

let own: SignIn | undefined; // of the plugin whose bundle this is

/** Called by definePlugin, so that the answers of the site are held to it. */
export function rememberSignIn(signIn: SignIn | undefined): void {
  own = signIn;
}

/**
 * The failure that a page of the site means when it is one to sign in on; undefined when it is not. The fetch
 * functions ask this themselves where JSON was asked for; a plugin that reads pages asks it of a page that is none of
 * those it knows. `outcome` is `unknown` for the answer to a write: a page with a password field may also follow a
 * change that was made, such as one of the account.
 */
export const lostSession = (html: string, outcome?: Outcome): ToolError | undefined =>
  own && looksSignedOut(html) ? signedOut(own, outcome) : undefined;

/**
 * Whether a page of the site is one to sign in on: what the plugin's `isLoginPage` knows as that, or a page with a
 * password field.
 */
export const looksSignedOut = (html: string): boolean =>
  own?.isLoginPage?.(html) === true || /<input\b[^>]*\btype\s*=\s*["']?password\b/i.test(html);

/** Fails when an answer is the page that the plugin knows as the one to sign in on. */
export async function refuseLoginPage({ header, copy }: Reply, outcome?: Outcome): Promise<void> {
  if (own?.isLoginPage === undefined || !/html/i.test(header('content-type') ?? '')) return;
  const { keep, reply } = network();
  if (own.isLoginPage(await keep(reply(copy()).text()))) throw signedOut(own, outcome);
}

/** A token that proves to a site that a request comes from its own pages, and that the site replaces now and then. */
export interface FreshToken<T> {
  /** The token, kept from an earlier call where there is one. */
  get(): Promise<T>;
  /** Forgets what is kept. */
  forget?(): void;
  /**
   * Whether a request failed because the site did not take the token, and so did nothing. Default: the site refused it
   * as one that nobody is signed in for (401, 403), or as one whose page has expired (419). An error whose outcome is
   * not `not_executed` is not taken for that.
   */
  isRefused?(error: unknown): boolean;
}

/** Sends a request with a token, and once more with a new one when the site did not take it. */
export async function withFreshToken<T, Answer>(
  { get, forget, isRefused = isAuthFailure }: FreshToken<T>,
  send: (token: T) => Promise<Answer>,
): Promise<Answer> {
  const token = await get();
  try {
    return await send(token);
  } catch (error) {
    if (!isRefused(error)) throw error;
    forget?.();
    return await send(await get());
  }
}

const isAuthFailure = (error: unknown): boolean =>
  error instanceof ToolError &&
  error.outcome === 'not_executed' &&
  (error.category === 'auth' || error.code === 'HTTP_419');
