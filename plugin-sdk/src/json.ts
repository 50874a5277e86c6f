// Reads an application's JSON, of which nothing is known. What is missing or of another type reads as empty: versions
// leave out other fields, and a tool that needs one says so itself.

/** An object of an answer; what its fields are is still to be found out. */
export type JsonObject = Readonly<Record<string, unknown>>;

/** Whether a value is an object: neither a list nor null. */
export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/**
 * The object at a path of keys, or an empty one. Without keys, the value itself.
 *
 * @example asText(objectAt(answer, 'order', 'customer').name)
 */
export function objectAt(value: unknown, ...path: string[]): JsonObject {
  let found = isObject(value) ? value : {};
  for (const key of path) {
    const next = found[key];
    found = isObject(next) ? next : {};
  }
  return found;
}

/** What a list has in it; nothing when the value is no list. */
export const itemsIn = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);

/** The objects in a list; anything else in it is left out. */
export const objectsIn = (value: unknown): JsonObject[] => itemsIn(value).filter(isObject);

/** The texts in a list; anything else in it is left out. */
export const textsIn = (value: unknown): string[] =>
  itemsIn(value).filter((item) => typeof item === 'string');

/** The value when it is a text, or an empty one. Nothing is converted: 7 is no text. */
export const asText = (value: unknown): string => (typeof value === 'string' ? value : '');

/** The value when it is a number, or 0. Nothing is converted: '7' is no number. */
export const asNumber = (value: unknown): number => (typeof value === 'number' ? value : 0);

/** Whether the value is true; 1 and 'true' are not. */
export const isTrue = (value: unknown): boolean => value === true;

/** What a text says that is JSON; undefined when it is not. */
export function parseJSON(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
