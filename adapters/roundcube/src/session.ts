// The session of the person. Requests carry a token which each page of Roundcube has in its environment.

import { fetchText, lostSession, type SignIn, ToolError } from '@tabrelay/plugin-sdk';
import { invalidResponse, type JsonReader, jsonReader, parseJSON } from '@tabrelay/plugin-sdk/json';

/** Where the webmail is: all of its addresses are this one with a query. */
export const base = (): URL => new URL('./', document.baseURI);

/** Whether the page is one of Roundcube. */
export const isWebmail = (page: Document): boolean =>
  page.querySelector('script[src*="program/js/app."]') !== null;

let known: string | undefined;

/** The token of the signed-in person. */
export async function token(signal?: AbortSignal): Promise<string> {
  if (known !== undefined) return known;
  const options = signal === undefined ? {} : { signal };
  const page = environment(await fetchText(new URL('?_task=mail', base()), options));
  const found = page.maybe('request_token')?.string();
  if (taskOf(page) !== 'mail' || !found) throw broken();
  known = found;
  return known;
}

/** The session is over, or another one took its place. */
export function forgetToken(): void {
  known = undefined;
}

const declared = /rcmail\.set_env\((\{.*\})\);/;

/** Whether a page is one that Roundcube made. */
const isOfWebmail = (html: string): boolean => declared.test(html);

/** What a page tells its script: `rcmail.set_env({…});`, on one line. */
export function environment(html: string): JsonReader {
  const found = parseJSON(declared.exec(html)?.[1] ?? '');
  if (found === undefined)
    throw lostSession(html) ?? invalidResponse('it is not a page of the webmail');
  return jsonReader(found);
}

/** Which part of the webmail a page is of; undefined for a page that shows an error. */
const taskOf = (page: JsonReader): string | undefined => page.maybe('task')?.string();

export const signIn: SignIn = {
  isSignedIn: async () => (await token()) !== '',
  // The answer is the webmail's own word, so there is nothing to wait for.
  waitMs: 0,
  loginUrl: () => new URL('?_task=login', base()).href,
  isLoginPage: (html) => isOfWebmail(html) && taskOf(environment(html)) === 'login',
};

const broken = (): ToolError =>
  new ToolError(
    'The webmail shows an error in place of the mail. Its mail server may be down: ask the ' +
      'person to look at the tab, and try again later.',
    'MAIL_SERVER_ERROR',
    { category: 'internal', retryable: true, outcome: 'not_executed' },
  );
