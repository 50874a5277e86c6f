// The browser's own tools, one table. Each is called in the document that its arguments mean.
import { defineTool, type ToolContext, ToolError } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { type Gone, isGone, resolve } from './references.ts';
import { lines, render } from './tree.ts';

export type { ToolContext };

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

export const refInput = s.string('Reference, such as e12.');

const snapshot = defineTool({
  name: 'snapshot',
  displayName: 'Take a snapshot',
  description:
    'What the page shows, a line for each thing, with references for the other tools. Quoted text is the page’s.',
  annotations: { readOnlyHint: true },
  input: s.parameters({
    ref: s.optional(s.string('Only what this element holds.')),
    interactive: s.optional(s.boolean('Only what can be acted on.')),
  }),
  output: s.object({ page: s.string() }),
  handle({ ref, interactive = false }) {
    const root = ref === undefined ? document : element(ref);
    return { page: render(lines(root, { interactive })) };
  },
});

export const tools = [snapshot];
