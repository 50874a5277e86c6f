// What is written to a console, as one line.
import { isRecord, isText } from './guards.ts';
import { defineProperty, join, slice, stringOf } from './primordials.ts';

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
export function spoken(values: readonly unknown[], kind = ''): string {
  const parts: string[] = [];
  for (let i = 0; i < values.length; i++)
    defineProperty(parts, i, { value: textOf(values[i]), enumerable: true });
  return slice(kind + join(parts, ' '), 0, entryChars);
}
