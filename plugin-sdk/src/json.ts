// Reads an application's JSON, of which nothing is known. What a plugin needs has to be there and be of its type: an
// answer of another shape is a failure with the place in it, and never an empty value.

import { type Outcome, ToolError } from './tool-error.ts';

/** An object of an answer; what its fields are is still to be found out. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is an object: neither a list nor null. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** What a text says that is JSON; undefined when it is not. */
export function parseJSON(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/**
 * Reads the answer of an application. Everything that is read has to be there: else it fails with INVALID_RESPONSE,
 * which names the path. `outcome` is what the failure then says of the action: 'unknown' after a request that writes.
 *
 * @example
 * const answer = jsonReader(await fetchJSON('/api/orders', { signal }));
 * const orders = answer.list('data', 'orders');
 * return { orders: orders.map((one) => ({ id: one.number('id'), note: one.maybe('note')?.string() })) };
 */
export const jsonReader = (value: unknown, outcome?: Outcome): JsonReader =>
  new JsonReader(value, '', outcome);

/**
 * A value of an answer and its place. Keys lead from object to object; without any it is the value itself that is
 * read.
 */
export class JsonReader {
  readonly value: unknown;
  readonly #path: string;
  readonly #outcome: Outcome | undefined;

  constructor(value: unknown, path: string, outcome: Outcome | undefined) {
    this.value = value;
    this.#path = path;
    this.#outcome = outcome;
  }

  /** What is at the end of these keys; null counts as being there. */
  at(...keys: string[]): JsonReader {
    return keys.reduce(
      (inside: JsonReader, key) => inside.#field(key) ?? inside.#child(key).#fail('is missing'),
      this,
    );
  }

  /** The same where the application may leave the last key out, or send null. */
  maybe(key: string, ...keys: string[]): JsonReader | undefined {
    const inside = this.#field(key);
    if (inside === undefined || inside.value === null) return undefined;
    const [next, ...rest] = keys;
    return next === undefined ? inside : inside.maybe(next, ...rest);
  }

  /** A text. Nothing is converted: 7 is no text. */
  string(...keys: string[]): string {
    const found = this.at(...keys);
    return typeof found.value === 'string' ? found.value : found.#wrong('a text');
  }

  /** A number. Nothing is converted: '7' is no number. */
  number(...keys: string[]): number {
    const found = this.at(...keys);
    return typeof found.value === 'number' ? found.value : found.#wrong('a number');
  }

  /** true or false. */
  boolean(...keys: string[]): boolean {
    const found = this.at(...keys);
    return typeof found.value === 'boolean' ? found.value : found.#wrong('true or false');
  }

  /** An object, as it is. */
  object(...keys: string[]): JsonObject {
    const found = this.at(...keys);
    return isObject(found.value) ? found.value : found.#wrong('an object');
  }

  /** What an object has in it, by name. */
  entries(...keys: string[]): [name: string, value: JsonReader][] {
    const inside = this.at(...keys);
    return Object.entries(inside.object()).map(([name, value]) => [name, inside.#child(name, value)]);
  }

  /** What a list has in it. */
  list(...keys: string[]): JsonReader[] {
    const inside = this.at(...keys);
    if (!Array.isArray(inside.value)) return inside.#wrong('a list');
    return inside.value.map((item: unknown, index) => inside.#child(index, item));
  }

  /** What a list has in it, which is all texts. */
  strings(...keys: string[]): string[] {
    return this.list(...keys).map((item) => item.string());
  }

  /** The first thing in a list. */
  first(...keys: string[]): JsonReader {
    const list = this.at(...keys);
    return list.list()[0] ?? list.#fail('is an empty list');
  }

  /** Whether an application that leaves out what is not so says that something is. */
  flag(...keys: [string, ...string[]]): boolean {
    return this.maybe(...keys)?.boolean() ?? false;
  }

  /** Fails because of what is wrong with this value, such as `is no date`. */
  fail(problem: string): never {
    return this.#fail(problem);
  }

  #field(key: string): JsonReader | undefined {
    const fields = isObject(this.value) ? this.value : this.#wrong('an object');
    return Object.hasOwn(fields, key) && fields[key] !== undefined
      ? this.#child(key, fields[key])
      : undefined;
  }

  #child(key: string | number, value?: unknown): JsonReader {
    return new JsonReader(value, this.#path + step(key, this.#path === ''), this.#outcome);
  }

  #wrong(wanted: string): never {
    return this.#fail(`is ${kindOf(this.value)}, not ${wanted}`);
  }

  #fail(problem: string): never {
    throw invalidResponse(`${this.#path || 'it'} ${problem}`, this.#outcome);
  }
}

/** The failure that an application's answer is not what the plugin was written for. */
export const invalidResponse = (problem: string, outcome?: Outcome): ToolError =>
  new ToolError(`The site's answer is not what the plugin expects: ${problem}`, 'INVALID_RESPONSE', {
    category: 'internal',
    outcome,
  });

/** A key as JavaScript writes it: `.title`, `[3]` or `["X-WP-Total"]`. */
function step(key: string | number, first: boolean): string {
  if (typeof key === 'number') return `[${key}]`;
  return /^[a-z_$][\w$]*$/i.test(key) ? `${first ? '' : '.'}${key}` : `[${JSON.stringify(key)}]`;
}

function kindOf(value: unknown): string {
  if (value === undefined) return 'empty';
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : typeof value === 'string' ? 'a text' : `a ${typeof value}`;
}
