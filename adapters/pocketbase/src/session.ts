// The session of the superuser who is signed in to the dashboard, and where the server is.

import { getConfig, getLocalStorage, type SignIn } from '@tabrelay/plugin-sdk';
import { isObject, parseJSON } from '@tabrelay/plugin-sdk/json';

// The dashboard keeps its session here: {token, record}.
const key = '__pb_superuser_auth__';

/** The token of the dashboard's session; undefined when there is none, or when it has expired. */
export function token(): string | undefined {
  const session = parseJSON(getLocalStorage(key) ?? '');
  const found = isObject(session) ? session.token : undefined;
  return typeof found === 'string' && expiry(found) > Date.now() / 1000 ? found : undefined;
}

/** When a JSON Web Token ends, in Unix seconds; 0 for what is none. */
function expiry(jwt: string): number {
  const claims = jwt.split('.')[1]?.replaceAll('-', '+').replaceAll('_', '/') ?? '';
  try {
    const said = parseJSON(atob(claims));
    return isObject(said) && typeof said.exp === 'number' ? said.exp : 0;
  } catch {
    return 0; // Not base64.
  }
}

/** Where the server's paths begin: a person may have configured the address of the dashboard, or of the server. */
export function baseUrl(): string {
  const configured = getConfig('url');
  const url = typeof configured === 'string' ? new URL(configured) : undefined;
  const path = url?.host === location.host ? url.pathname.replace(/(\/_)?\/?$/, '') : '';
  return `${location.origin}${path}/`;
}

export const loginUrl = (): string => `${baseUrl()}_/#/login`;

export const signIn = { isSignedIn: () => token() !== undefined, loginUrl } satisfies SignIn;
