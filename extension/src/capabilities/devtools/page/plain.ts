// Any value of a page as plain data that can leave it: without cycles, getters that throw, or more than a limit. Only
// built-ins that were taken before are used, and no JSON, which a page can replace.
import {
  call,
  defineProperty,
  isArray,
  isFiniteNumber,
  keysOf,
  MapCtor,
  mapDelete,
  mapGet,
  mapSet,
  property,
  slice,
  stringOf,
  uncurry,
} from '../../../shared/primordials.ts';

/** How much of a value is taken. */
export interface Limits {
  parts: number; // members and items, at any depth
  characters: number;
  depth: number;
}

const isoOf = uncurry(Date.prototype.toISOString);
const eachOfMap = uncurry(Map.prototype.forEach);
const eachOfSet = uncurry(Set.prototype.forEach);
const tagOf = uncurry(Object.prototype.toString);
const MapOfPage = Map;
const SetOfPage = Set;
const DateOfPage = Date;
const ErrorOfPage = Error;
const NodeOfPage = Node;
const ElementOfPage = Element;
const cloneShallow = uncurry(Node.prototype.cloneNode);
const outerHtml = Object.getOwnPropertyDescriptor(Element.prototype, 'outerHTML')?.get;
const isView = ArrayBuffer.isView;
const mostOfElement = 200;

/** A walk over one value. */
class Walk {
  truncated = false;
  #parts: number;
  #characters: number;
  readonly #depth: number;
  readonly #open = new MapCtor<unknown, boolean>(); // that are being written: one of them again is a cycle

  constructor({ parts, characters, depth }: Limits) {
    this.#parts = parts;
    this.#characters = characters;
    this.#depth = depth;
  }

  take(value: unknown, depth = 0): unknown {
    switch (typeof value) {
      case 'string':
        return this.#text(value);
      case 'number':
        return isFiniteNumber(value) ? value : stringOf(value);
      case 'boolean':
        return value;
      case 'bigint':
        return this.#text(`${stringOf(value)}n`);
      case 'symbol':
        return this.#text(stringOf(value));
      case 'function':
        return this.#text(`[function ${spell(() => property(value, 'name'))}]`);
    }
    if (value === undefined || value === null) return null;
    if (mapGet(this.#open, value) === true) return '[circular]';
    if (depth >= this.#depth) {
      this.truncated = true;
      return spell(() => tagOf(value));
    }
    mapSet(this.#open, value, true);
    try {
      return this.#object(value, depth);
    } catch (thrown) {
      return `[threw ${worded(thrown)}]`;
    } finally {
      mapDelete(this.#open, value);
    }
  }

  #text(text: string): string {
    const kept = text.length > this.#characters ? `${slice(text, 0, this.#characters)}…` : text;
    if (kept !== text) this.truncated = true;
    this.#characters -= kept.length < this.#characters ? kept.length : this.#characters;
    return kept;
  }

  #object(value: object, depth: number): unknown {
    if (isArray(value)) return this.#list(value.length, (i) => property(value, i), depth);
    if (value === window) return '[window]';
    if (value instanceof ErrorOfPage) return this.#text(worded(value));
    if (value instanceof DateOfPage) return spell(() => isoOf(value));
    if (value instanceof NodeOfPage) return this.#text(described(value));
    if (value instanceof MapOfPage) {
      const pairs: [unknown, unknown][] = [];
      eachOfMap(value, (one: unknown, key: unknown) => push(pairs, [key, one]));
      return this.#list(pairs.length, (i) => property(pairs, i), depth);
    }
    if (value instanceof SetOfPage) {
      const all: unknown[] = [];
      eachOfSet(value, (one: unknown) => push(all, one));
      return this.#list(all.length, (i) => property(all, i), depth);
    }
    if (isView(value)) {
      const length = property(value, 'length');
      return this.#list(typeof length === 'number' ? length : 0, (i) => property(value, i), depth);
    }
    return this.#members(value, depth);
  }

  #list(length: number, item: (i: number) => unknown, depth: number): unknown[] {
    const list: unknown[] = [];
    for (let i = 0; i < length; i++) {
      if (this.#parts-- <= 0) {
        this.truncated = true;
        push(list, `… ${length - i} more`);
        break;
      }
      push(
        list,
        this.#member(() => item(i), depth),
      );
    }
    return list;
  }

  #members(value: object, depth: number): unknown {
    const names = keysOf(value);
    const toJson: unknown = names.length === 0 ? property(value, 'toJSON') : undefined;
    if (typeof toJson === 'function') return this.take(call(toJson, value, []), depth + 1);
    const taken: Record<string, unknown> = { __proto__: null };
    for (let i = 0; i < names.length; i++) {
      const name = names[i] ?? '';
      if (this.#parts-- <= 0 || this.#characters <= 0) {
        this.truncated = true;
        put(taken, '…', `${names.length - i} more`);
        break;
      }
      this.#characters -= name.length;
      const part = this.#member(() => property(value, name), depth);
      put(taken, name, part);
    }
    return taken;
  }

  #member(read: () => unknown, depth: number): unknown {
    let part: unknown;
    try {
      part = read();
    } catch (thrown) {
      return `[threw ${worded(thrown)}]`;
    }
    return this.take(part, depth + 1);
  }
}

function put(into: object, name: PropertyKey, value: unknown): void {
  defineProperty(into, name, { value, enumerable: true, configurable: true, writable: true });
}

const push = (list: unknown[], value: unknown) => put(list, list.length, value);

function spell(read: () => unknown): string {
  try {
    return stringOf(read());
  } catch {
    return '?';
  }
}

/** What was thrown, in words. */
export function worded(thrown: unknown): string {
  if (typeof thrown !== 'object' || thrown === null) return spell(() => thrown);
  const message = spell(() => property(thrown, 'message'));
  const name = spell(() => property(thrown, 'name'));
  return message === 'undefined' ? spell(() => thrown) : `${name}: ${message}`;
}

function described(node: Node): string {
  if (!(node instanceof ElementOfPage) || outerHtml === undefined) return spell(() => node.nodeName);
  const tag = spell(() => call(outerHtml, cloneShallow(node, false), []));
  return tag.length > mostOfElement ? `${slice(tag, 0, mostOfElement)}…` : tag;
}

/** Plain data in place of a value, and whether some of it is missing. */
export function plain(value: unknown, limits: Limits): { value: unknown; truncated: boolean } {
  const walk = new Walk(limits);
  return { value: walk.take(value), truncated: walk.truncated };
}
