/** The address of the page. */
export const getCurrentUrl = (): string => location.href;

/** The title of the page. */
export const getPageTitle = (): string => document.title;

const forbidden = new Set(['__proto__', 'prototype', 'constructor']);

/**
 * A global of the page by its path, such as `app.store.user`; undefined when any step of it is missing.
 * Only a plugin with `"world": "main"` sees the page's globals, and what it reads there can be forged by the page.
 */
export function getPageGlobal(path: string): unknown {
  let value: unknown = globalThis;
  for (const step of path.split('.')) {
    if (forbidden.has(step) || value === null || (typeof value !== 'object' && typeof value !== 'function')) {
      return undefined;
    }
    value = Reflect.get(value, step);
  }
  return value;
}
