// The element that a reference means, or the failure of a call whose reference leads nowhere.
import { ToolError } from '@tabrelay/plugin-sdk';
import { rowHead } from './columns.ts';
import { inWords, isInWords } from './inwords.ts';
import { type Gone, hintFor, isGone, reference, resolve } from './references.ts';
import { lines } from './tree.ts';
import { quotedIn } from './words.ts';

/** The failure of a call whose reference leads nowhere. Nothing was done. */
function gone(what: Gone): ToolError {
  const { code, message, successor } = what;
  return new ToolError(message, code === 'UNKNOWN_REF' ? 'VALIDATION_ERROR' : code, {
    category: code === 'UNKNOWN_REF' ? 'validation' : 'not_found',
    outcome: 'not_executed',
    hint: hintFor(what),
    ...(successor !== undefined && { data: { successor } }),
  });
}

/** The element that a reference means now. */
export function find(ref: string): Element | Gone {
  const found = resolve(ref);
  if (!isGone(found) || found.successor !== undefined || found.said === undefined) return found;
  lines(document); // so that what took its place has a reference
  const again = resolve(ref);
  if (!isGone(again) || again.successor !== undefined || again.said === undefined) return again;
  const words = wordsFor(ref, again.said);
  return words === undefined ? again : { ...again, words };
}

// What was in a row is known by the first words of that row, where there is one such thing beside them now.
function wordsFor(ref: string, said: string): string | undefined {
  for (const seen of globalThis.tabrelayLooks?.values() ?? []) {
    const row = seen.find(({ text }) => text.includes(`[${ref}]`) && rowHead.test(text))?.text;
    const first =
      row === undefined ? undefined : quotedIn(row.replace(rowHead, '')).find((one) => one.length > 2);
    if (first === undefined || first.length > mostWords || said.includes(first)) continue;
    const words = `${said} in ${first}`;
    if (inWords(words) instanceof Element) return words;
  }
  return undefined;
}

const mostWords = 60; // characters of a row's first ones

/** The element that a reference means, also one in words; throws what became of it. */
export function element(ref: string): Element {
  const found = inWords(ref) ?? find(ref);
  if (isGone(found)) throw gone(found);
  return found;
}

/** A reference as it is; for one in words, that of the thing it names now. */
export const standing = (ref: string): string => (isInWords(ref) ? reference(element(ref)) : ref);
