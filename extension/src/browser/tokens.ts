// How many tokens a text costs the model that reads it. An encoder has tables of megabytes, which no page script can
// carry; one number of characters per token is off by half between languages. This counts what the tokens of o200k are
// made of: on 26 looks, 13 of them at pages in other languages, it says 0.84 to 1.18 of what o200k does
// (docs/decisions.md).

// Tokens of one character of a script, by the first character behind it.
const scripts: readonly [end: number, tokens: number][] = [
  [0x400, 0.45], // Greek, and signs with Latin letters
  [0x530, 0.29], // Cyrillic
  [0x600, 0.43], // Armenian, Hebrew
  [0x700, 0.3], // Arabic
  [0x2000, 0.42], // scripts of India and South East Asia
  [0x2e80, 1.1], // punctuation, arrows, box drawing
  [0xac00, 0.69], // Chinese, Japanese
  [0xd800, 0.55], // Korean
  [0xf900, 0.9], // of icon fonts
];
const ofOthers = 1.6; // emoji

const parts = /[A-Za-z\u00c0-\u024f\u1e00-\u1eff]+|\d+|\n\s*|[!-/:-@[-`{-~]+|[^\0-\x7f]/gu;
const isLatin = /^[A-Za-z\u00c0-\u024f\u1e00-\u1eff]/;

/** About how many tokens of o200k a text is, not rounded: the sum over lines is that of the text. */
export function tokensOf(text: string): number {
  let tokens = 0;
  for (const [part] of text.matchAll(parts)) {
    const code = part.codePointAt(0) ?? 0;
    if (isLatin.test(part)) {
      const accented = part.length - part.replace(/[^A-Za-z]+/g, '').length;
      tokens += Math.max(1.05, part.length / 6) + 0.35 * accented;
    } else if (code < 0x21) tokens += 0.5;
    else if (code >= 0x30 && code <= 0x39) tokens += Math.ceil(part.length / 3);
    else if (code < 0x80) tokens += 0.8 + part.length / 6;
    else tokens += scripts.find(([end]) => code < end)?.[1] ?? ofOthers;
  }
  return tokens;
}

/** How many bytes a text is in UTF-8. */
export const bytesOf = (text: string): number => new TextEncoder().encode(text).length;
