// What of a tool's result JSON would drop or change in silence, for whoever writes the plugin.
import { isRecord } from './guards.ts';
import {
  defineProperty,
  isFiniteNumber,
  isPromise,
  keysOf,
  MapCtor,
  mapGet,
  mapSet,
  property,
  stringOf,
} from './primordials.ts';

const mostLosses = 5;
const mostParts = 10_000; // of a result that leads into the whole page
const deepest = 32;

const SetCtor = Set;
const ErrorCtor = Error;
const RegExpCtor = RegExp;

/** What becomes of a value that JSON has no form for, and what to write; undefined when nothing is lost. */
function lossOf(value: unknown): string | undefined {
  if (typeof value === 'function') return 'is a function, and is left out';
  if (typeof value === 'bigint') return 'is a BigInt, and fails: String(it)';
  if (typeof value === 'symbol') return 'is a symbol, and is left out';
  if (typeof value === 'number' && !isFiniteNumber(value)) return `is ${stringOf(value)}, and becomes null`;
  if (!isRecord(value)) return undefined;
  if (isPromise(value)) return 'is a promise, and becomes {}: await it';
  if (typeof property(value, 'toJSON', value) === 'function') return undefined; // it says how it is written
  if (value instanceof MapCtor) return 'is a Map, and becomes {}: Object.fromEntries(…)';
  if (value instanceof SetCtor) return 'is a Set, and becomes {}: [...it]';
  if (value instanceof ErrorCtor) return 'is an Error, and becomes {}: throw it, or take its message';
  if (value instanceof RegExpCtor) return 'is a RegExp, and becomes {}: its source';
  return undefined;
}

const pathOf = (path: string, key: string): string => (path === '' ? key : `${path}.${key}`);

/** Says what is lost, at most five things, each with its path. It runs getters of the value once more. */
export function losses(result: unknown): string[] {
  const found: string[] = [];
  const open = new MapCtor<unknown, boolean>(); // whether what has been seen is still being looked through
  let parts = 0;
  const look = (value: unknown, path: string, depth: number): void => {
    if (found.length >= mostLosses || ++parts > mostParts) return;
    const known = mapGet(open, value);
    const loss =
      known === true ? 'leads back to itself, and fails: return the fields that matter' : lossOf(value);
    if (loss !== undefined) {
      const where = path === '' ? 'The result' : `"${path}" of the result`;
      defineProperty(found, found.length, { value: `${where} ${loss}`, enumerable: true });
      return;
    }
    if (typeof value !== 'object' || value === null || depth >= deepest || known === false) return;
    if (typeof property(value, 'toJSON', value) === 'function') return;
    mapSet(open, value, true);
    const keys = keysOf(value);
    for (let i = 0; i < keys.length; i++) {
      const key = keys[i];
      if (key !== undefined) look(property(value, key, value), pathOf(path, key), depth + 1);
    }
    mapSet(open, value, false);
  };
  try {
    look(result, '', 0);
  } catch {
    // A getter threw: the answer says so itself.
  }
  return found;
}
