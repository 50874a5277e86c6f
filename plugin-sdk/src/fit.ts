// How much fits into a number of bytes.

/** What an answer may have where the relay does not say: its own default. */
export const defaultMaxBytes = 32_768;

const encoder = /* @__PURE__ */ new TextEncoder();

/** A value's JSON, and how many bytes it takes. */
export function measure(value: unknown): { json: string; bytes: number } {
  const json = JSON.stringify(value) ?? 'null';
  return { json, bytes: encoder.encode(json).length };
}

export const jsonBytes = (value: unknown): number => measure(value).bytes;

/** The largest count up to `most` that fits, when fewer fit too; 0 when none does. */
export function largest(most: number, fits: (count: number) => boolean): number {
  let low = 0;
  let high = most;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(middle)) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** An index at or before `at` that is not inside a surrogate pair. */
export function wholeTo(text: string, at: number): number {
  const before = text.charCodeAt(at - 1);
  return at > 0 && at < text.length && before >= 0xd800 && before < 0xdc00 ? at - 1 : at;
}

/** A text with U+FFFD in the place of each half of a surrogate pair; its length stays. */
export const wellFormed = (text: string): string =>
  text.replaceAll(/[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g, '\ufffd');
