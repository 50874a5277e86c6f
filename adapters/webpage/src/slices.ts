// Pieces of what is long: texts by characters, lists by entries. An agent asks for the next by nextOffset.

import { wholeTo } from './page.ts';

export const offsetInput = {
  type: 'integer',
  minimum: 0,
  default: 0,
  description: 'Where to start: nextOffset of the answer before.',
} as const;

export const textInput = {
  offset: offsetInput,
  maxChars: {
    type: 'integer',
    minimum: 100,
    maximum: 100_000,
    default: 8000,
    description: 'How much text to return.',
  },
} as const;

export const textOutput = {
  text: { type: 'string' },
  totalChars: { type: 'integer' },
  nextOffset: { type: 'integer', description: 'Present when there is more.' },
} as const;

export function textSlice(whole: string, offset: number, maxChars: number) {
  const end = wholeTo(whole, Math.min(offset + maxChars, whole.length));
  const more = end < whole.length ? { nextOffset: end } : {};
  return { text: whole.slice(wholeTo(whole, offset), end), totalChars: whole.length, ...more };
}

export const limitInput = (standard: number) =>
  ({
    type: 'integer',
    minimum: 1,
    maximum: 500,
    default: standard,
    description: 'How many at most.',
  }) as const;

export const listOutput = {
  total: { type: 'integer', description: 'How many there are.' },
  nextOffset: { type: 'integer', description: 'Present when there are more.' },
} as const;

/** Some entries of a list, and how it goes on. */
export function listSlice<T>(all: readonly T[], offset: number, limit: number) {
  const end = offset + limit;
  const more = end < all.length ? { nextOffset: end } : {};
  return { some: all.slice(offset, end), rest: { total: all.length, ...more } };
}
