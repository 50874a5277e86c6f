// Tools that change a text take it whole, or the part to replace and what comes in its place: an agent then writes
// one sentence instead of the page around it.

import * as s from './json-schema.ts';
import { ToolError } from './tool-error.ts';

/** JSON Schema of the arguments that replace one part of a text: properties of a tool's input. */
export const replaceInput = {
  oldText: /* @__PURE__ */ s.optional(
    /* @__PURE__ */ s.string('Part to replace, instead of the whole: exactly as it is, once in the text.', {
      minLength: 1,
    }),
  ),
  newText: /* @__PURE__ */ s.optional(/* @__PURE__ */ s.string('Replaces oldText; empty removes it.')),
};

/** What an agent wants to become of a text. */
export interface TextChange {
  /** The whole new text. */
  text?: string | undefined;
  oldText?: string | undefined;
  newText?: string | undefined;
}

/**
 * The text after a change. `current` reads the text as it is; it is only asked when a part of it is replaced. A part
 * that is missing (OLD_TEXT_NOT_FOUND) or there more than once (OLD_TEXT_NOT_UNIQUE) is a ToolError, with nothing
 * changed, and so is a call that says neither what the text nor what a part of it becomes (VALIDATION_ERROR).
 *
 * @example
 * input: s.parameters({ id: s.integer(), text: s.optional(s.string('The whole new text.')), ...replaceInput }),
 * async handle({ id, ...change }, { signal }) {
 *   const text = await changedText(change, () => readNote(id, signal));
 *   …
 * }
 */
export async function changedText(
  { text, oldText, newText }: TextChange,
  current: () => string | Promise<string>,
): Promise<string> {
  const part = oldText !== undefined || newText !== undefined;
  if (part === (text !== undefined)) {
    throw ToolError.validation('Pass either the whole new text, or oldText and newText.');
  }
  if (text !== undefined) return text;
  if (oldText === undefined || newText === undefined) {
    throw ToolError.validation('oldText and newText belong together: one of them is missing.');
  }
  return replaceOnce(await current(), oldText, newText);
}

/** Replaces the one place where a text has `oldText`. Line breaks match whichever way they are written. */
export function replaceOnce(whole: string, oldText: string, newText: string): string {
  if (oldText === '') throw ToolError.validation('oldText is empty: say which part to replace.');
  // Forms send CRLF, and some applications keep it.
  const [part, replacement] = whole.includes(oldText) ? [oldText, newText] : [crlf(oldText), crlf(newText)];
  const at = whole.indexOf(part);
  if (at < 0) throw notFound(whole, oldText);
  if (whole.includes(part, at + 1)) {
    throw refused(
      'OLD_TEXT_NOT_UNIQUE',
      'oldText is there more than once. Give more of what stands around it.',
    );
  }
  return whole.slice(0, at) + replacement + whole.slice(at + part.length);
}

const crlf = (text: string): string => text.replaceAll(/\r?\n/g, '\r\n');

const spaced = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

function notFound(whole: string, oldText: string): ToolError {
  const near = spaced(oldText) !== '' && spaced(whole).includes(spaced(oldText));
  return refused(
    'OLD_TEXT_NOT_FOUND',
    near
      ? 'The text has oldText with other spaces or line breaks. Copy it exactly as it was read.'
      : 'The text does not have oldText. Read the text again, as source, and copy the part exactly.',
  );
}

const refused = (code: string, message: string): ToolError =>
  new ToolError(`${message} Nothing was changed.`, code, {
    category: 'validation',
    outcome: 'not_executed',
  });
