// The session of the person. Requests carry a token which each page of Roundcube has in its environment.

import { fetchText, requireSignIn, type SignIn, ToolError } from '@tabrelay/plugin-sdk';
import { asText, type JsonObject, objectAt } from '@tabrelay/plugin-sdk/json';

/** Where the webmail is: all of its addresses are this one with a query. */
export const base = (): URL => new URL('./', document.baseURI);

/** Whether the page is one of Roundcube. */
export const isWebmail = (page: Document): boolean =>
  page.querySelector('script[src*="program/js/app."]') !== null;

let known: string | undefined;

/** The token of the signed-in person, or undefined when nobody is signed in. */
export async function token(signal?: AbortSignal): Promise<string | undefined> {
  if (known !== undefined) return known;
  const options = signal === undefined ? {} : { signal };
  const page = environment(await fetchText(new URL('?_task=mail', base()), options));
  if (page.task === 'login') return undefined;
  const found = asText(page.request_token);
  if (page.task !== 'mail' || found === '') throw broken();
  known = found;
  return known;
}

/** The session is over, or another one took its place. */
export function forgetToken(): void {
  known = undefined;
}

/** What a page tells its script: `rcmail.set_env({…});`, on one line. */
export function environment(html: string): JsonObject {
  const found = /rcmail\.set_env\((\{.*\})\);/.exec(html)?.[1];
  return found === undefined ? {} : objectAt(JSON.parse(found));
}

export const signIn: SignIn = {
  isSignedIn: async () => (await token()) !== undefined,
  // The answer is the webmail's own word, so there is nothing to wait for.
  waitMs: 0,
  loginUrl: () => new URL('?_task=login', base()).href,
};

/** Fails with AUTH_ERROR and the address where to sign in. */
export async function signedOut(): Promise<never> {
  forgetToken();
  await requireSignIn({ ...signIn, isSignedIn: () => false });
  throw ToolError.internal('unreachable: nobody is signed in');
}

const broken = (): ToolError =>
  new ToolError(
    'The webmail shows an error in place of the mail. Its mail server may be down: ask the person to look at the tab, and try again later.',
    'MAIL_SERVER_ERROR',
    { category: 'internal', retryable: true, outcome: 'not_executed' },
  );
