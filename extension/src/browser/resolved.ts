// The element that a reference means, or the failure of a call whose reference leads nowhere.
import { ToolError } from '@tabrelay/plugin-sdk';
import { inWords, isInWords } from './inwords.ts';
import { type Gone, hintFor, isGone, reference, resolve } from './references.ts';
import { lines } from './tree.ts';

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
  return resolve(ref);
}

/** The element that a reference means, also one in words; throws what became of it. */
export function element(ref: string): Element {
  const found = inWords(ref) ?? find(ref);
  if (isGone(found)) throw gone(found);
  return found;
}

/** A reference as it is; for one in words, that of the thing it names now. */
export const standing = (ref: string): string => (isInWords(ref) ? reference(element(ref)) : ref);
