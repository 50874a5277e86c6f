// What the page writes to its console, and what goes wrong in it, while somebody asked for it.
import { isRecord } from '../../../shared/guards.ts';
import {
  call,
  defineProperty,
  indexOf,
  isArray,
  listen,
  now,
  ownDescriptor,
  property,
  slice,
  stringOf,
  unlisten,
} from '../../../shared/primordials.ts';
import { plain, worded } from './plain.ts';

type Level = 'error' | 'warning' | 'info' | 'log' | 'debug';

/** One message. */
export interface Said {
  level: Level;
  text: string;
  at: number; // milliseconds since the document began
  where?: string; // file:line:column of the page's script
}

const methods: readonly (readonly [string, Level])[] = [
  ['error', 'error'],
  ['assert', 'error'],
  ['warn', 'warning'],
  ['info', 'info'],
  ['log', 'log'],
  ['table', 'log'],
  ['dir', 'log'],
  ['debug', 'debug'],
  ['trace', 'debug'],
];

const mostText = 2000; // characters of a message
const ofValue = { parts: 60, characters: 1000, depth: 4 };
const splitMethod = String.prototype.split;
const split = (text: string, by: string): unknown => call(splitMethod, text, [by]);
const ErrorOfPage = Error;
const stringify = JSON.stringify; // of plain data of ours

function shown(value: unknown): string {
  if (typeof value === 'string') return value;
  if (value instanceof ErrorOfPage || typeof value !== 'object' || value === null) return worded(value);
  try {
    const taken = plain(value, ofValue).value;
    return typeof taken === 'string' ? taken : stringOf(stringify(taken));
  } catch {
    return '[unprintable]';
  }
}

// %s and the like take the values that follow; %c, which is for colours, takes one and says nothing.
function formatted(values: readonly unknown[]): string {
  const [first] = values;
  let at = 1;
  let text = typeof first === 'string' ? '' : shown(first);
  if (typeof first === 'string') {
    const parts: unknown = split(first, '%');
    for (let i = 0; isArray(parts) && i < parts.length; i++) {
      const part = stringOf(parts[i]);
      const sign = slice(part, 0, 1);
      if (i === 0) text = part;
      else if (at < values.length && sign !== '' && indexOf('sdifoOc', sign) >= 0)
        text += (sign === 'c' ? '' : shown(values[at])) + slice(part, 1, undefined);
      else text += `%${part}`;
      if (i > 0 && at < values.length && sign !== '' && indexOf('sdifoOc', sign) >= 0) at++;
    }
  }
  for (; at < values.length && text.length < mostText; at++) text += ` ${shown(values[at])}`;
  return text;
}

// The first place of the stack that is no script of an extension.
function caller(): string | undefined {
  const lines: unknown = split(stringOf(property(new ErrorOfPage(), 'stack')), '\n');
  for (let i = 1; isArray(lines) && i < lines.length; i++) {
    const line = stringOf(lines[i]);
    if (indexOf(line, 'chrome-extension:') >= 0) continue;
    const from = indexOf(line, '(');
    return from < 0 ? slice(line, indexOf(line, 'at ') + 3, 300) : slice(line, from + 1, line.length - 1);
  }
  return undefined;
}

/** Hears what is said from now on; what it returns ends that. */
export function watchConsole(heard: (said: Said) => void): () => void {
  let busy = false; // what a value does while it is looked at is not heard
  const tell = (level: Level, text: () => string, where?: string) => {
    if (busy) return;
    busy = true;
    try {
      const place = where ?? (level === 'error' || level === 'warning' ? caller() : undefined);
      const said: Said = { level, text: slice(text(), 0, mostText), at: now() };
      heard(place === undefined ? said : { ...said, where: slice(place, 0, 300) });
    } catch {
      // a message that cannot be shown is none
    } finally {
      busy = false;
    }
  };
  const ends: (() => void)[] = [];
  for (let i = 0; i < methods.length; i++) {
    const [name, level] = methods[i] ?? ['', 'log'];
    const before = ownDescriptor(console, name);
    const original: unknown = before?.value;
    if (before?.configurable !== true || typeof original !== 'function') continue;
    const tapped = (...values: unknown[]): unknown => {
      if (name !== 'assert') tell(level, () => formatted(values));
      else if (!values[0]) tell(level, () => `Assertion failed: ${formatted(withoutFirst(values))}`);
      return call(original, console, values);
    };
    defineProperty(tapped, 'name', { value: name, configurable: true });
    defineProperty(console, name, { ...before, value: tapped });
    put(ends, () => {
      if (ownDescriptor(console, name)?.value === tapped) defineProperty(console, name, before);
    });
  }
  put(ends, watchFailures(tell));
  return () => {
    for (let i = 0; i < ends.length; i++) ends[i]?.();
  };
}

type Tell = (level: Level, text: () => string, where?: string) => void;

function watchFailures(tell: Tell): () => void {
  const onError = (event: unknown) => {
    if (event instanceof ErrorEvent)
      tell('error', () => event.message, `${event.filename}:${event.lineno}:${event.colno}`);
    else if (event instanceof Event && event.target instanceof Element) {
      const { target } = event;
      tell(
        'error',
        () => `Could not load ${worded(property(target, 'src') ?? property(target, 'href'))}`,
        '',
      );
    }
  };
  const onRejection = (event: unknown) =>
    tell('error', () => `Unhandled rejection: ${shown(isRecord(event) ? event.reason : event)}`, '');
  const onViolation = (event: unknown) => {
    if (event instanceof SecurityPolicyViolationEvent)
      tell(
        'error',
        () => `Content-Security-Policy ${event.effectiveDirective} forbids ${event.blockedURI}`,
        '',
      );
  };
  listen(window, 'error', onError, true);
  listen(window, 'unhandledrejection', onRejection);
  listen(document, 'securitypolicyviolation', onViolation);
  return () => {
    unlisten(window, 'error', onError, true);
    unlisten(window, 'unhandledrejection', onRejection);
    unlisten(document, 'securitypolicyviolation', onViolation);
  };
}

function withoutFirst(values: readonly unknown[]): unknown[] {
  const rest: unknown[] = [];
  for (let i = 1; i < values.length; i++) put(rest, values[i]);
  return rest;
}

function put<T>(list: T[], value: T): void {
  defineProperty(list, list.length, { value, enumerable: true, configurable: true, writable: true });
}
