// The session of the person: WordPress takes its cookie for the REST API only together with a nonce.
// https://developer.wordpress.org/rest-api/using-the-rest-api/authentication/#cookie-authentication

import { fetchFromPage, fetchJSON, requireSignIn, type SignIn, ToolError } from '@tabrelay/plugin-sdk';
import { asText, objectAt } from '@tabrelay/plugin-sdk/json';
import { api, onThisOrigin, route } from './site.ts';

let home: URL | undefined; // where wp-admin and wp-login.php are: not always where the front page is
let known: string | undefined;

async function installation(): Promise<URL> {
  if (home === undefined) {
    const root = route(api(), '/');
    root.searchParams.set('_fields', 'url');
    home = onThisOrigin(`${asText(objectAt(await fetchJSON(root)).url).replace(/\/$/, '')}/`);
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
  try {
    const response = await fetchFromPage(new URL('wp-admin/admin-ajax.php?action=rest-nonce', base));
    return (await response.text()).trim();
  } catch (error) {
    // Without a session the action does not exist.
    if (error instanceof ToolError && error.category === 'validation') return undefined;
    throw error;
  }
}

export const signIn: SignIn = {
  isSignedIn: async () => (await nonce()) !== undefined,
  // The answer is the site's own word, so there is nothing to wait for.
  waitMs: 0,
  loginUrl: () => new URL('wp-login.php', home ?? location.origin).href,
};

/** Fails with AUTH_ERROR and the address where to sign in. */
export async function signedOut(): Promise<never> {
  forgetNonce();
  await installation();
  await requireSignIn({ ...signIn, isSignedIn: () => false });
  throw ToolError.internal('unreachable: nobody is signed in');
}
