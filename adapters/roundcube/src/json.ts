// Reads fields out of an answer. What is missing or of another type reads as empty: versions and plugins differ, and a
// tool that needs a field says so itself.

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

export const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export const number = (value: unknown): number => (typeof value === 'number' ? value : 0);
