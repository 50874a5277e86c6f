// The helpers that answer null where ours answer undefined.

import * as dom from '../dom.ts';
import * as storage from '../storage.ts';

export const getTextContent = (selector: string): string | null => dom.getTextContent(selector) ?? null;

export const getMetaContent = (name: string): string | null => dom.getMetaContent(name) ?? null;

export const getCookie = (name: string): string | null => storage.getCookie(name) ?? null;

export const findLocalStorageEntry = (
  test: (key: string) => boolean,
): { key: string; value: string } | null => storage.findLocalStorageEntry(test) ?? null;

/** Kept per plugin and out of the page's reach. */
export const getAuthCache = (namespace: string): unknown => storage.getAuthCache(namespace) ?? null;
