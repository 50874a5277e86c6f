// The session of the person. Requests carry a token that the reader's own page has in a script.

import { fetchText, type SignIn } from '@tabrelay/plugin-sdk';
import { siteError } from './failures.ts';

/** Where the reader is: all of its scripts are in this folder. */
export const base = (): URL => new URL('./', document.baseURI);

/** Whether the page is one of Tiny Tiny RSS: its articles, its preferences, or the form to sign in. */
export const isReader = (page: Document): boolean =>
  page.querySelector('body.ttrss_main, body.ttrss_prefs, body.ttrss_login') !== null;

let known: string | undefined;

/** The token of the signed-in person. */
export async function token(signal?: AbortSignal): Promise<string> {
  if (known !== undefined) return known;
  const options = signal === undefined ? {} : { signal };
  const page = await fetchText(new URL('index.php', base()), options);
  const found = /\b__csrf_token\s*=\s*"([^"]+)"/.exec(page)?.[1];
  if (found === undefined) throw siteError(page, 'not_executed');
  known = found;
  return known;
}

/** The session is over, or another one took its place. */
export function forgetToken(): void {
  known = undefined;
}

export const signIn: SignIn = {
  isSignedIn: async () => (await token()) !== '',
  // The answer is the reader's own word, so there is nothing to wait for.
  waitMs: 0,
  loginUrl: () => new URL('index.php', base()).href,
  // The first tag of that kind is the reader's own: what else a page has in it may come from a feed.
  isLoginPage: (html) => /\bttrss_login\b/.test(/<body\b[^>]*>/.exec(html)?.[0] ?? ''),
};
