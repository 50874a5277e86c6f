// What can be read of a value that JSON has no form for.
import { encodeJson, MapCtor, mapGet, mapSet, slice, stringOf } from './primordials.ts';

const mostParts = 10_000; // of a value that leads into the whole page
const mostCharacters = 256 * 1024;

// JSON text in which words stand for what JSON cannot say: big integers, functions, symbols, and what came before.
function inWords(value: unknown): string | undefined {
  const seen = new MapCtor<unknown, boolean>();
  let parts = 0;
  return encodeJson(value, (_, part) => {
    if (++parts > mostParts) return undefined;
    if (typeof part === 'bigint') return `${stringOf(part)}n`;
    if (typeof part === 'symbol') return stringOf(part);
    if (typeof part === 'function') return '[function]';
    if (typeof part !== 'object' || part === null) return part;
    if (mapGet(seen, part) === true) return '[see above]';
    mapSet(seen, part, true);
    return part;
  });
}

/** The value as a person can read it. It may be incomplete, and its getters run once more. */
export function legible(value: unknown): string {
  try {
    return slice(inWords(value) ?? stringOf(value), 0, mostCharacters);
  } catch {
    return '[unprintable]';
  }
}
