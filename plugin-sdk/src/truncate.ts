import { isObject } from './json.ts';
import { fail } from './result.ts';

export interface TruncateOptions {
  /** How large the result may be as JSON, in bytes. Default 32 768, the relay's own. */
  readonly maxBytes?: number;
  /** Where the list to shorten is, such as `.data.items`. Default: the value itself, or its `results`. */
  readonly arrayPath?: string | undefined;
  /** Index of the first item to keep: `nextOffset` of the previous answer. Default 0. */
  readonly offset?: number;
}

/** A value that fits, and what was left out of it. */
export interface Truncated {
  readonly result: unknown;
  readonly truncated: boolean;
  /** Items (of a list) or characters (of a text) that are in the result. */
  readonly kept: number;
  /** Items or characters there are. */
  readonly total: number;
  /** Where to go on; missing at the end. */
  readonly nextOffset?: number;
}

/**
 * Shortens a large value so that its JSON fits: keeps as many items of one list as it can, or the beginning of a text.
 * Fails with output_too_large when it does not fit even without items.
 */
export function truncate(value: unknown, options: TruncateOptions = {}): Truncated {
  const { maxBytes = defaultMaxBytes, arrayPath, offset = 0 } = options;
  if (typeof value === 'string' && arrayPath === undefined) return shortenText(value, maxBytes, offset);
  const list = listIn(value, arrayPath);
  if (list === undefined) return whole(value, maxBytes);
  const { items, rebuild } = list;
  const fits = (count: number) => jsonBytes(rebuild(items.slice(offset, offset + count))) <= maxBytes;
  if (!fits(0)) {
    throw tooLarge(jsonBytes(rebuild([])), maxBytes);
  }
  const kept = largest(Math.max(0, items.length - offset), fits);
  return cut(rebuild(items.slice(offset, offset + kept)), kept, items.length, offset);
}

function cut(result: unknown, kept: number, total: number, offset: number): Truncated {
  const next = offset + kept;
  const truncated = kept < total;
  return { result, truncated, kept, total, ...(next < total ? { nextOffset: next } : {}) };
}

function whole(value: unknown, maxBytes: number): Truncated {
  const bytes = jsonBytes(value);
  if (bytes > maxBytes) throw tooLarge(bytes, maxBytes);
  return { result: value, truncated: false, kept: 1, total: 1 };
}

const tooLarge = (bytes: number, maxBytes: number): never =>
  fail({
    type: 'output_too_large',
    message: `The answer takes ${bytes} bytes, and ${maxBytes} are allowed.`,
    hint: 'Ask for less, or name the list to shorten.',
  });

interface List {
  readonly items: readonly unknown[];
  readonly rebuild: (items: readonly unknown[]) => unknown;
}

function listIn(value: unknown, path: string | undefined): List | undefined {
  if (path === undefined) {
    if (Array.isArray(value)) return { items: value, rebuild: (items) => items };
    return isObject(value) && Array.isArray(value.results)
      ? listAt(value, ['results'], '.results')
      : undefined;
  }
  if (!/^(\.[a-zA-Z_]\w*)+$/.test(path)) {
    fail({
      type: 'invalid_path_syntax',
      message: `"${path}" is not a path.`,
      hint: 'Write it as .data.items',
    });
  }
  return listAt(value, path.slice(1).split('.'), path);
}

function listAt(value: unknown, [key, ...rest]: readonly string[], path: string): List {
  if (key === undefined) {
    if (Array.isArray(value)) return { items: value, rebuild: (items) => items };
    return fail({ type: 'invalid_array_path', message: `What is at ${path} is not a list.` });
  }
  if (!isObject(value) || !Object.hasOwn(value, key)) {
    return fail({ type: 'path_not_found', message: `There is nothing at ${path}.` });
  }
  const inner = listAt(value[key], rest, path);
  return { items: inner.items, rebuild: (items) => ({ ...value, [key]: inner.rebuild(items) }) };
}

/** Cuts between characters, never inside one. */
function shortenText(text: string, maxBytes: number, offset: number): Truncated {
  const rest = text.slice(offset);
  if (jsonBytes(rest) <= maxBytes) return cut(rest, rest.length, text.length, offset);
  const most = largest(rest.length, (count) => jsonBytes(`${rest.slice(0, count)}…`) <= maxBytes);
  const kept = wholeTo(rest, most);
  return cut(`${rest.slice(0, kept)}…`, kept, text.length, offset);
}

// How much fits into a number of bytes.

/** What an answer may have where the relay does not say: its own default. */
export const defaultMaxBytes = 32_768;

const encoder = /* @__PURE__ */ new TextEncoder();

/** A value's JSON, and how many bytes it takes. */
export function measure(value: unknown): { json: string; bytes: number } {
  const json = JSON.stringify(value) ?? 'null';
  return { json, bytes: encoder.encode(json).length };
}

export const jsonBytes = (value: unknown): number => measure(value).bytes;

/** The largest count up to `most` that fits, when fewer fit too; 0 when none does. */
export function largest(most: number, fits: (count: number) => boolean): number {
  let low = 0;
  let high = most;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** An index at or before `at` that is not inside a surrogate pair. */
export function wholeTo(text: string, at: number): number {
  const before = text.charCodeAt(at - 1);
  return at > 0 && at < text.length && before >= 0xd800 && before < 0xdc00 ? at - 1 : at;
}

/** A text with U+FFFD in the place of each half of a surrogate pair; its length stays. */
export const wellFormed = (text: string): string =>
  text.replaceAll(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');
