// What a tool returned or threw, as JSON the worker can pass on without looking into it.
import { isRecord, isText } from '../shared/guards.ts';
import {
  codeAt,
  defineProperty,
  encodeJson,
  errorField,
  indexOf,
  isArray,
  isFiniteNumber,
  join,
  keysOf,
  MapCtor,
  mapGet,
  mapSet,
  min,
  property,
  slice,
  stringOf,
  tagOf,
} from '../shared/primordials.ts';

const messageBytes = 32 * 1024;
const fieldBytes = 1024;
const hintBytes = 8 * 1024;
const dataBytes = 16 * 1024;

/** How many bytes a string takes in UTF-8. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const code = codeAt(text, i);
    if (code < 0x80) continue;
    // A surrogate pair is four bytes: two for each half.
    bytes += code < 0x800 || (code >= 0xd800 && code <= 0xdfff) ? 1 : 2;
  }
  return bytes;
}

/** Whether a string fits in max bytes of UTF-8, counting only when its length leaves a doubt. */
export function fitsIn(text: string, max: number): boolean {
  if (text.length > max) return false;
  return text.length * 3 <= max || utf8Length(text) <= max;
}

/** A string cut so that its JSON form takes at most max bytes: a frame's header has a limit. */
export function cut(text: string, max: number): string {
  let kept = text.length > max ? slice(text, 0, max) : text;
  while (kept !== '' && !fitsIn(encodeJson(kept) ?? '', max)) kept = slice(kept, 0, (kept.length * 3) >> 2);
  return kept;
}

// Fields go to the relay as they are, valid or not: it checks and repairs them, and says so.
function copyField(value: unknown, max: number): unknown {
  switch (typeof value) {
    case 'string':
      return cut(value, max);
    case 'number':
      return isFiniteNumber(value) ? value : stringOf(value);
    case 'boolean':
      return value;
    default:
      return value === null ? null : `[${typeof value}]`;
  }
}

/** What a value is that was thrown in place of an error: "a string", "a Response", "undefined". */
export function kindOf(thrown: unknown): string {
  if (thrown === undefined || thrown === null) return stringOf(thrown);
  if (typeof thrown !== 'object') return `a ${typeof thrown}`;
  const tag = tagOf(thrown);
  const vowel = indexOf('AEIO', slice(tag, 0, 1)) >= 0 || indexOf(tag, 'HTML') === 0;
  return tag === 'Object' ? 'an object' : `${vowel ? 'an' : 'a'} ${tag}`;
}

// The fields in which errors of servers and libraries say what is wrong. What else an object has, a request's headers
// for one, is not for whoever reads the failure.
const telling = [
  'error',
  'error_description',
  'msg',
  'detail',
  'reason',
  'title',
  'name',
  'status',
  'statusText',
];
const fieldInMessage = 300;

// Of a value without a message: what its fields say, or what it is where none says anything.
function inPlaceOfMessage(thrown: object): string {
  const text = stringOf(thrown);
  if (indexOf(text, '[object ') !== 0) return text;
  const said: Record<string, unknown> & { __proto__: null } = { __proto__: null };
  for (let i = 0; i < telling.length && tagOf(thrown) === 'Object'; i++) {
    const name = telling[i];
    const value = name === undefined ? undefined : errorField(thrown, name);
    if (name !== undefined && (typeof value === 'string' || typeof value === 'number'))
      said[name] = copyField(value, fieldInMessage);
  }
  return keysOf(said).length === 0
    ? `The tool threw ${kindOf(thrown)} without a message`
    : (encodeJson(said) ?? '');
}

function messageOf(thrown: unknown): string {
  try {
    if (!isRecord(thrown)) return stringOf(thrown);
    const message = errorField(thrown, 'message');
    return typeof message === 'string' ? message : inPlaceOfMessage(thrown);
  } catch {
    return 'The tool threw a value that cannot be shown';
  }
}

// How many bytes each field may have.
const carried: readonly (readonly [name: string, most: number])[] = [
  ['category', fieldBytes],
  ['retryable', fieldBytes],
  ['retryAfterMs', fieldBytes],
  ['outcome', fieldBytes],
  ['type', fieldBytes],
  ['hint', hintBytes],
];

/** Takes the message over; of one that had to be cut, the relay says how many bytes it had. */
function addMessage(error: Record<string, unknown>, thrown: unknown): Record<string, unknown> {
  const whole = messageOf(thrown);
  const kept = cut(whole, messageBytes);
  defineProperty(error, 'message', { value: kept, enumerable: true });
  if (kept.length < whole.length)
    defineProperty(error, 'messageBytes', { value: utf8Length(whole), enumerable: true });
  return error;
}

function copyToolError(thrown: Record<string, unknown>): Record<string, unknown> | undefined {
  const code = errorField(thrown, 'code');
  if (typeof code !== 'string') return undefined;
  // Without a prototype: a page may have put a setter named like one of our fields on Object.prototype.
  const error: Record<string, unknown> = { __proto__: null, code: copyField(code, fieldBytes) };
  addMessage(error, thrown);
  for (let i = 0; i < carried.length; i++) {
    const field = carried[i];
    if (field === undefined) continue;
    try {
      const value = errorField(thrown, field[0]);
      if (value !== undefined) error[field[0]] = copyField(value, field[1]);
    } catch {
      // A getter threw: the field is missing, and the error still has its code.
    }
  }
  const data = copyData(thrown);
  if (data !== undefined) error.data = data;
  return error;
}

// As JSON text, because only its text can be cut: the relay keeps what is no JSON any more as a string.
function copyData(thrown: Record<string, unknown>): string | undefined {
  let data: unknown;
  try {
    data = errorField(thrown, 'data');
    if (data === undefined) return undefined;
    return cut(encodeJson(data) ?? stringOf(data), dataBytes);
  } catch {
    return 'data that cannot be shown'; // a cycle, a bigint, a getter that throws
  }
}

const mostReasons = 5;

/** What was thrown, as a console shows it: name and message. */
export function describe(thrown: unknown): string {
  const name: unknown = isRecord(thrown) ? property(thrown, 'name', thrown) : undefined;
  return cut(`${isText(name) && name !== '' ? `${name}: ` : ''}${messageOf(thrown)}`, fieldBytes);
}

/** Why an error came: the errors that it stands for, and its causes. An agent is told its message only. */
export function eachReason(thrown: unknown, visit: (what: string, reason: unknown) => void): void {
  try {
    const errors: unknown = isRecord(thrown) ? errorField(thrown, 'errors') : undefined;
    for (let i = 0; isArray(errors) && i < min(errors.length, mostReasons); i++)
      visit('It stands for', errors[i]);
    let at = thrown;
    for (let depth = 0; isRecord(at) && depth < mostReasons; depth++) {
      at = errorField(at, 'cause');
      if (at !== undefined) visit('It was caused by', at);
    }
  } catch {
    // A getter threw: what was found until then.
  }
}

/** The serialised form of whatever a tool threw. An object with a string code counts as a ToolError. */
export function serialiseThrown(thrown: unknown): Record<string, unknown> {
  try {
    if (isRecord(thrown)) {
      const error = copyToolError(thrown);
      if (error !== undefined) return error;
    }
  } catch {
    // A getter of the thrown object threw; it is not a ToolError.
  }
  return addMessage({ code: 'INTERNAL_ERROR', category: 'internal', retryable: false }, thrown);
}

/** JSON text of a returned value, or the reason why it has none and what was thrown for it. No value is null. */
export function serialiseValue(value: unknown): { text: string } | { problem: string; thrown?: unknown } {
  try {
    const text = encodeJson(value);
    if (text !== undefined) return { text };
    return value === undefined ? { text: 'null' } : { problem: `a ${typeof value} has no JSON form` };
  } catch (thrown) {
    return { problem: messageOf(thrown), thrown };
  }
}

// What is written to a console, as one line.

const entryChars = 4096;

function textOf(value: unknown): string {
  try {
    if (isRecord(value) && isText(value.message))
      return `${isText(value.name) ? value.name : 'Error'}: ${value.message}`;
    return stringOf(value);
  } catch {
    return '[unprintable]';
  }
}

/** The values as a console shows them, cut to what is kept of one line. */
export function consoleText(values: readonly unknown[], kind = ''): string {
  const parts: string[] = [];
  for (let i = 0; i < values.length; i++)
    defineProperty(parts, i, { value: textOf(values[i]), enumerable: true });
  return slice(kind + join(parts, ' '), 0, entryChars);
}

// What can be read of a value that JSON has no form for.

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
