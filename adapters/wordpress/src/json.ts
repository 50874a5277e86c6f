// Reads fields out of an answer. What is missing or of another type reads as empty: plugins of a site add fields and
// take others away, and a tool that needs one says so itself.

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

export const objects = (value: unknown): Json[] => (Array.isArray(value) ? value.filter(isObject) : []);

export const text = (value: unknown): string => (typeof value === 'string' ? value : '');

export const number = (value: unknown): number => (typeof value === 'number' ? value : 0);

export const numbers = (value: unknown): number[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'number') : [];

export const texts = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
