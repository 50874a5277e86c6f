// Storage as that SDK has it: null where ours answers undefined, and a warning where writing fails.

import * as storage from '../storage.ts';
import { log } from './log.ts';

export { clearAuthCache, setAuthCache } from '../storage.ts';

/** Kept per plugin and out of the page's reach. */
export const getAuthCache = (namespace: string): unknown => storage.getAuthCache(namespace) ?? null;

export const getLocalStorage = (key: string): string | null => readable(() => storage.getLocalStorage(key));
export const getSessionStorage = (key: string): string | null =>
  readable(() => storage.getSessionStorage(key));
export const getCookie = (name: string): string | null => readable(() => storage.getCookie(name));
export const findLocalStorageEntry = (
  test: (key: string) => boolean,
): { key: string; value: string } | null => readable(() => storage.findLocalStorageEntry(test));

export const setLocalStorage = (key: string, value: string): void =>
  warned('setLocalStorage', key, () => storage.setLocalStorage(key, value));
export const removeLocalStorage = (key: string): void =>
  warned('removeLocalStorage', key, () => storage.removeLocalStorage(key));
export const setSessionStorage = (key: string, value: string): void =>
  warned('setSessionStorage', key, () => storage.setSessionStorage(key, value));
export const removeSessionStorage = (key: string): void =>
  warned('removeSessionStorage', key, () => storage.removeSessionStorage(key));

/** Null where there is nothing, and in a document that may not look. */
function readable<T>(read: () => T | null | undefined): T | null {
  try {
    return read() ?? null;
  } catch {
    return null;
  }
}

/** A document that may not write, or has no room left, ends no call. */
function warned(what: string, key: string, write: () => void): void {
  try {
    write();
  } catch (error) {
    log.warn(`${what} failed for "${key}"`, error);
  }
}
