// The session of the person who is signed in to the editor, and where the editor is.

import {
  fetchText,
  findLocalStorageEntry,
  getConfig,
  type SignIn,
  ToolError,
} from '@tabrelay/plugin-sdk';
import { isObject, parseJSON } from '@tabrelay/plugin-sdk/json';

/** Where the editor's paths begin. */
export function baseUrl(): string {
  const configured = getConfig('url');
  const url = typeof configured === 'string' ? new URL(configured) : undefined;
  const path = url?.host === location.host ? url.pathname.replace(/\/?$/, '/') : '/';
  return `${location.origin}${path}`;
}

/** The editor's access token; undefined when nobody is signed in, or when the editor asks nobody to. */
export function token(): string | undefined {
  // Editors of several paths on one host each have an entry of their own.
  const suffix = new URL(baseUrl()).pathname.slice(0, -1).replaceAll('/', '-');
  const entry = findLocalStorageEntry((key) => key === `auth-tokens${suffix}`);
  const session = parseJSON(entry?.value ?? '');
  const found = isObject(session) ? session.access_token : undefined;
  return typeof found === 'string' && found !== '' ? found : undefined;
}

export const bearer = (): Record<string, string> => {
  const session = token();
  return session === undefined ? {} : { authorization: `Bearer ${session}` };
};

export const signIn = {
  // An editor without adminAuth, or one with a default user, answers everybody. One that cannot be reached
  // has not refused anybody: the call itself then says what is wrong.
  isSignedIn: async () =>
    token() !== undefined ||
    fetchText(`${baseUrl()}settings`, { timeout: 5000 }).then(
      () => true,
      (error: unknown) => !(error instanceof ToolError && error.code === 'AUTH_ERROR'),
    ),
  loginUrl: baseUrl,
  waitMs: 500,
} satisfies SignIn;
