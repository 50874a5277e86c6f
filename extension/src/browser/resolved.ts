// The element that a reference means, or the failure of a call whose reference leads nowhere.
import { ToolError } from '@tabrelay/plugin-sdk';
import { type Gone, isGone, resolve } from './references.ts';
import { lines } from './tree.ts';

/** The failure of a call whose reference leads nowhere. Nothing was done. */
export function gone({ code, message, successor }: Gone): ToolError {
  const hint =
    successor === undefined
      ? 'Take a new snapshot, and use a reference of it.'
      : `Most likely it is now ${successor}: look whether it means the same before using it.`;
  return new ToolError(message, code === 'UNKNOWN_REF' ? 'VALIDATION_ERROR' : code, {
    category: code === 'UNKNOWN_REF' ? 'validation' : 'not_found',
    outcome: 'not_executed',
    hint,
    ...(successor !== undefined && { data: { successor } }),
  });
}

/** The element that a reference means; throws what became of it. */
export function element(ref: string): Element {
  let found = resolve(ref);
  if (isGone(found) && found.successor === undefined && found.code === 'REF_GONE') {
    lines(document); // so that what took its place has a reference
    found = resolve(ref);
  }
  if (isGone(found)) throw gone(found);
  return found;
}
