// What of a tool's result JSON would drop or change in silence, for whoever writes the plugin.
import { isRecord } from '../shared/guards.ts';
import {
  defineProperty,
  indexOf,
  isA,
  isFiniteNumber,
  isPromise,
  keysOf,
  MapCtor,
  mapGet,
  mapSet,
  property,
  stringOf,
  tagOf,
  uncurry,
} from '../shared/primordials.ts';
import { kindOf } from './serialise.ts';

const mostLosses = 5;
const mostParts = 10_000; // of a result that leads into the whole page
const deepest = 32;

const SetCtor = Set;
const ErrorCtor = Error;
const RegExpCtor = RegExp;
const DateCtor = Date;
const timeOf = uncurry(Date.prototype.getTime);
const isView = ArrayBuffer.isView;

/** What becomes of a value that JSON has no form for, and what to write; undefined when nothing is lost. */
function lossOf(value: unknown): string | undefined {
  if (typeof value === 'function') return 'is a function, and is left out';
  if (typeof value === 'bigint') return 'is a BigInt, and fails: String(it)';
  if (typeof value === 'symbol') return 'is a symbol, and is left out';
  if (typeof value === 'number' && !isFiniteNumber(value)) return `is ${stringOf(value)}, and becomes null`;
  if (!isRecord(value)) return undefined;
  if (isPromise(value)) return 'is a promise, and becomes {}: await it';
  if (isA(value, DateCtor) && !isFiniteNumber(timeOf(value)))
    return 'is a Date without a time, and becomes null: check what it is made of';
  if (typeof property(value, 'toJSON', value) === 'function') return undefined; // it says how it is written
  if (isA(value, MapCtor)) return 'is a Map, and becomes {}: Object.fromEntries(…)';
  if (isA(value, SetCtor)) return 'is a Set, and becomes {}: [...it]';
  if (isA(value, ErrorCtor)) return 'is an Error, and becomes {}: throw it, or take its message';
  if (isA(value, RegExpCtor)) return 'is a RegExp, and becomes {}: its source';
  return emptied(value);
}

// What to write in place of objects of the browser, by what they are.
const inPlaceOf = new MapCtor([
  ['Response', 'await its json() or text()'],
  ['Generator', '[...it]'],
  ['AsyncGenerator', 'collect it with for await, or answer in parts (@tabrelay/plugin-sdk/paging)'],
  ['URLSearchParams', 'Object.fromEntries(it)'],
  ['Headers', 'Object.fromEntries(it)'],
  ['FormData', 'Object.fromEntries(it)'],
  ['NodeList', '[...it], and of each what matters'],
  ['HTMLCollection', '[...it], and of each what matters'],
]);

// An object whose class keeps what it has where JSON does not look.
function emptied(value: object): string | undefined {
  const tag = tagOf(value);
  if (isView(value)) return `is a ${tag}, and becomes an object of its numbers: [...it]`;
  if (indexOf(' Object Array String Number Boolean ', ` ${tag} `) >= 0) return undefined;
  const fix = mapGet(inPlaceOf, tag);
  if (keysOf(value).length === 0)
    return `is ${kindOf(value)}, and becomes {}: ${fix ?? 'return the fields that matter'}`;
  return fix && `is ${kindOf(value)}, and becomes an object of what is left of its entries: ${fix}`;
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
