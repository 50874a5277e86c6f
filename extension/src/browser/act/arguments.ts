// Reads the arguments of an act. Those of a single tool have been checked by the relay; the steps of `act` have not.
import { isObject } from './dom.ts';
import { NotDone } from './failure.ts';
import type { Value } from './fields.ts';
import type { Button, Modifier } from './mouse.ts';
import type { DialogAnswer } from './page.ts';
import type { GivenFile } from './upload.ts';

export type Given = object;

const wrong = (name: string, what: string) => new NotDone('VALIDATION_ERROR', `${name} must be ${what}`);

export function optionalText(given: Given, name: string): string | undefined {
  const value: unknown = Reflect.get(given, name);
  if (value === undefined || typeof value === 'string') return value;
  throw wrong(name, 'text');
}

export function text(given: Given, name: string): string {
  const value = optionalText(given, name);
  if (value === undefined) throw wrong(name, 'given');
  return value;
}

function oneOf<One extends string>(value: unknown, all: readonly One[]): One | undefined {
  return all.find((one) => one === value);
}

export function choice<One extends string>(
  given: Given,
  name: string,
  all: readonly One[],
  standard?: One,
): One {
  const value: unknown = Reflect.get(given, name) ?? standard;
  const found = oneOf(value, all);
  if (found === undefined) throw wrong(name, all.map((one) => JSON.stringify(one)).join(', '));
  return found;
}

const list = (given: Given, name: string): readonly unknown[] => {
  const value: unknown = Reflect.get(given, name);
  if (!Array.isArray(value) || value.length === 0) throw wrong(name, 'a list with something in it');
  return value;
};

export const buttons: readonly Button[] = ['left', 'right', 'middle'];
const modifiers: readonly Modifier[] = ['Alt', 'Control', 'Meta', 'Shift'];

/** The modifiers held during a click. */
export function held(given: Given): Modifier[] {
  const value: unknown = Reflect.get(given, 'modifiers') ?? [];
  if (!Array.isArray(value)) throw wrong('modifiers', 'a list');
  return value.map((one: unknown) => {
    const found = oneOf(one, modifiers);
    if (found === undefined) throw wrong('modifiers', `some of ${modifiers.join(', ')}`);
    return found;
  });
}

export function count(given: Given): number {
  const value: unknown = Reflect.get(given, 'count') ?? 1;
  if (value === 1 || value === 2 || value === 3) return value;
  throw wrong('count', '1, 2 or 3');
}

/** How dialogs are to be answered; undefined when that is not said. */
export function dialogAnswer(given: Given): DialogAnswer | undefined {
  const value: unknown = Reflect.get(given, 'dialogs');
  if (value === undefined || value === 'accept' || value === 'dismiss') return value;
  const words: unknown = isObject(value) ? Reflect.get(value, 'text') : undefined;
  if (typeof words === 'string') return { text: words };
  throw wrong('dialogs', '"accept", "dismiss" or {text}');
}

const isTexts = (value: readonly unknown[]): value is string[] =>
  value.every((one) => typeof one === 'string');

/** What one field is to hold. */
export interface Field {
  ref: string;
  value: Value;
}

/** The fields of a fill, in their order. */
export function fields(given: Given): Field[] {
  return list(given, 'fields').map((one) => {
    if (!isObject(one)) throw wrong('fields', 'a list of {ref, value}');
    const value: unknown = Reflect.get(one, 'value');
    const ref = text(one, 'ref');
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean')
      return { ref, value };
    if (Array.isArray(value) && isTexts(value)) return { ref, value };
    throw wrong(`The value of ${ref}`, 'text, a number, true, false or a list of texts');
  });
}

/** The files of an upload. */
export function files(given: Given): GivenFile[] {
  return list(given, 'files').map((one) => {
    if (!isObject(one)) throw wrong('files', 'a list of {name, text or base64}');
    const content = { base64: optionalText(one, 'base64'), text: optionalText(one, 'text') };
    if (content.base64 === undefined && content.text === undefined)
      throw wrong(`The content of ${text(one, 'name')}`, 'given as text or base64');
    return { name: text(one, 'name'), type: optionalText(one, 'type'), ...content };
  });
}

/** A place or a part: words, an offset {x, y}, or nothing. */
export function place(given: Given): string | { x: number; y: number } | undefined {
  const value: unknown = Reflect.get(given, 'at');
  if (value === undefined || typeof value === 'string') return value;
  if (!isObject(value)) throw wrong('at', 'text or {x, y}');
  const x: unknown = Reflect.get(value, 'x') ?? 0;
  const y: unknown = Reflect.get(value, 'y') ?? 0;
  if (typeof x !== 'number' || typeof y !== 'number') throw wrong('at', 'text or {x, y}');
  return { x, y };
}

/** The steps of several acts, each with the name of its tool. */
export function steps(given: Given): { tool: string; args: Given }[] {
  return list(given, 'steps').map((one) => {
    if (!isObject(one)) throw wrong('steps', 'a list of {tool, …its arguments}');
    return { tool: text(one, 'tool'), args: one };
  });
}
