/** An entry of the page's localStorage. */
export const getLocalStorage = (key: string): string | null => local()?.getItem(key) ?? null;

export function setLocalStorage(key: string, value: string): void {
  local()?.setItem(key, value);
}

export function removeLocalStorage(key: string): void {
  local()?.removeItem(key);
}

/** The first localStorage entry whose key passes the test. */
export function findLocalStorageEntry(
  test: (key: string) => boolean,
): { key: string; value: string } | undefined {
  const storage = local();
  for (let i = 0; storage !== undefined && i < storage.length; i++) {
    const key = storage.key(i);
    if (key !== null && test(key)) return { key, value: storage.getItem(key) ?? '' };
  }
  return undefined;
}

/** An entry of the page's sessionStorage. */
export const getSessionStorage = (key: string): string | null =>
  storageOf(window, 'sessionStorage')?.getItem(key) ?? null;

export function setSessionStorage(key: string, value: string): void {
  storageOf(window, 'sessionStorage')?.setItem(key, value);
}

export function removeSessionStorage(key: string): void {
  storageOf(window, 'sessionStorage')?.removeItem(key);
}

/** A cookie that scripts may read; undefined when there is none of that name. */
export function getCookie(name: string): string | undefined {
  for (const pair of document.cookie.split('; ')) {
    const equals = pair.indexOf('=');
    if (equals > 0 && pair.slice(0, equals) === name) return decoded(pair.slice(equals + 1));
  }
  return undefined;
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value; // It was not percent-encoded.
  }
}

// Kept in the bundle's own scope, by no function that the page could replace: what is cached here is often a token.
const cached: Record<string, unknown> = { __proto__: null };

/** What setAuthCache kept under this name, until the page goes away. */
export const getAuthCache = (name: string): unknown => cached[name];

export function setAuthCache(name: string, value: unknown): void {
  cached[name] = value;
}

export function clearAuthCache(name: string): void {
  delete cached[name];
}

/** Some sites delete window.localStorage, so that scripts cannot read their tokens. A new frame has its getter. */
function local(): Storage | undefined {
  const own = storageOf(window, 'localStorage');
  if (own !== undefined) return own;
  const frame = document.createElement('iframe');
  frame.hidden = true;
  document.documentElement.append(frame);
  const getter =
    frame.contentWindow && Object.getOwnPropertyDescriptor(frame.contentWindow, 'localStorage')?.get;
  frame.remove();
  return getter?.call(window);
}

function storageOf(from: Window, kind: 'localStorage' | 'sessionStorage'): Storage | undefined {
  try {
    return from[kind] ?? undefined;
  } catch {
    return undefined; // A sandboxed document, or one whose cookies are blocked, has none.
  }
}
