// The session of the person: WordPress takes its cookie for the REST API only together with a nonce.
// https://developer.wordpress.org/rest-api/using-the-rest-api/authentication/#cookie-authentication

import { fetchFromPage, fetchJSON, type SignIn, signedOut, ToolError } from '@tabrelay/plugin-sdk';
import { invalidResponse, jsonReader } from '@tabrelay/plugin-sdk/json';
import { api, onThisOrigin, route } from './site.ts';

let home: URL | undefined; // where wp-admin and wp-login.php are: not always where the front page is
let known: string | undefined;

async function installation(): Promise<URL> {
  if (home === undefined) {
    const root = route(api(), '/');
    root.searchParams.set('_fields', 'url');
    home = onThisOrigin(
      `${jsonReader(await fetchJSON(root))
        .string('url')
        .replace(/\/$/, '')}/`,
    );
  }
  return home;
}

/** The nonce of the signed-in person, or undefined when nobody is signed in. */
export async function nonce(): Promise<string | undefined> {
  known ??= await askNonce(await installation());
  return known;
}

/** The site did not take the nonce: it is a day old, or another person signed in. */
export function forgetNonce(): void {
  known = undefined;
}

async function askNonce(base: URL): Promise<string | undefined> {
  const said = await fetchFromPage(new URL('wp-admin/admin-ajax.php?action=rest-nonce', base)).then(
    (response) => response.text(),
    (error: unknown) => {
      // Without a session the action does not exist, or the answer is the page to sign in on.
      if (
        error instanceof ToolError &&
        (error.category === 'validation' || error.category === 'auth')
      )
        return '0';
      throw error;
    },
  );
  const found = said.trim();
  if (found === '0' || found === '-1') return undefined;
  if (/^[\w-]{5,64}$/.test(found)) return found;
  throw invalidResponse('it gave something other than a nonce');
}

export const signIn: SignIn = {
  isSignedIn: async () => (await nonce()) !== undefined,
  // The answer is the site's own word, so there is nothing to wait for.
  waitMs: 0,
  loginUrl: () => new URL('wp-login.php', home ?? location.origin).href,
  isLoginPage: (html) => /<form\b[^>]*\bid="loginform"/.test(html),
};

/** AUTH_ERROR with the address where to sign in. */
export async function lostSession(): Promise<ToolError> {
  forgetNonce();
  await installation();
  return signedOut(signIn);
}
