// Reads fields out of an answer. What is missing or of another type reads as empty: versions leave out other fields.

export type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The object at a path of keys, or an empty one. */
export function at(value: unknown, ...path: string[]): Json {
  let found = isObject(value) ? value : {};
  for (const key of path) {
    const next = found[key];
    found = isObject(next) ? next : {};
  }
  return found;
}

/** The objects in a list; anything else in it is left out. */
export const objects = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

export const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export const number = (value: unknown): number => (typeof value === 'number' ? value : 0);

export const flag = (value: unknown): boolean => value === true;

export const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];

/** A text that is JSON; undefined when it is not. */
export function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}
