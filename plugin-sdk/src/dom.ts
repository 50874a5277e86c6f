import type { WaitOptions } from './timing.ts';
import { ToolError } from './tool-error.ts';

export interface WaitForOptions extends WaitOptions {
  /** When to give up, in milliseconds. Default 10 000. */
  readonly timeout?: number;
  /** Where to look. Default: the document. */
  readonly root?: ParentNode & Node;
}

/** Waits for an element to be there. */
export function waitForSelector<E extends Element = Element>(
  selector: string,
  options: WaitForOptions = {},
): Promise<E> {
  const { root = document } = options;
  return watch(`"${selector}" did not appear`, options, () => root.querySelector<E>(selector) ?? undefined);
}

/** Waits for an element to be gone. */
export async function waitForSelectorRemoval(selector: string, options: WaitForOptions = {}): Promise<void> {
  const { root = document } = options;
  await watch(
    `"${selector}" did not go away`,
    options,
    () => root.querySelector(selector) === null || undefined,
  );
}

/** Looks now and after each change of the page until `look` finds something. */
function watch<T>(
  failure: string,
  { timeout = 10_000, root = document, signal }: WaitForOptions,
  look: () => T | undefined,
): Promise<T> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const found = look();
    if (found !== undefined) {
      resolve(found);
      return;
    }
    const done = () => {
      observer.disconnect();
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
    const abort = () => {
      done();
      reject(signal?.reason);
    };
    const observer = new MutationObserver(() => {
      const now = look();
      if (now === undefined) return;
      done();
      resolve(now);
    });
    const timer = setTimeout(() => {
      done();
      reject(ToolError.timeout(`${failure} within ${timeout / 1000} s`));
    }, timeout);
    signal?.addEventListener('abort', abort, { once: true });
    observer.observe(root, { childList: true, subtree: true, attributes: true });
  });
}

/** The elements that match, as an array. */
export function querySelectorAll<E extends Element = Element>(
  selector: string,
  root: ParentNode = document,
): E[] {
  return [...root.querySelectorAll<E>(selector)];
}

/** The text of the first element that matches, with its blanks collapsed; undefined when there is none. */
export function getTextContent(selector: string, root: ParentNode = document): string | undefined {
  const text = root.querySelector(selector)?.textContent;
  return text === null || text === undefined ? undefined : text.replaceAll(/\s+/g, ' ').trim();
}

/** The content of `<meta name="…">` or `<meta property="…">`; undefined when there is none. */
export function getMetaContent(name: string): string | undefined {
  const quoted = CSS.escape(name);
  return (
    document.querySelector(`meta[name="${quoted}"], meta[property="${quoted}"]`)?.getAttribute('content') ??
    undefined
  );
}

export interface ObserveOptions extends WaitOptions {
  /** Look at changed attributes. Default false. */
  readonly attributes?: boolean;
  /** Look at added and removed nodes. Default true. */
  readonly childList?: boolean;
  /** Look at everything below the element, not only at its own children. Default true. */
  readonly subtree?: boolean;
}

/** Calls back on each change below the first element that matches. Returns what ends it; so does the signal. */
export function observeDOM(
  selector: string,
  onChange: MutationCallback,
  { attributes = false, childList = true, subtree = true, signal }: ObserveOptions = {},
): () => void {
  const element = document.querySelector(selector);
  if (!element) throw ToolError.notFound(`The page has no "${selector}" to observe`);
  const observer = new MutationObserver(onChange);
  const stop = () => observer.disconnect();
  if (signal?.aborted) return stop;
  observer.observe(element, { attributes, childList, subtree });
  signal?.addEventListener('abort', stop, { once: true });
  return stop;
}

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
