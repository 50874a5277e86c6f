// Runs code among the page's own scripts.
import { defineTool, ToolError } from '@tabrelay/plugin-sdk';
import * as s from '@tabrelay/plugin-sdk/schema';
import { thePage } from './page.ts';
import { redactValue } from './redact.ts';

const limits = { parts: 100_000, characters: 8_000_000, depth: 40 };

function failure(ended: Record<string, unknown>): ToolError {
  const place = typeof ended.line === 'number' ? ` (line ${ended.line}, column ${ended.column})` : '';
  const message = `${String(ended.message)}${place}`;
  if (ended.problem === 'threw')
    return new ToolError(message, 'EVALUATION_FAILED', {
      category: 'validation',
      outcome: 'executed',
      hint: 'The code ran until there: what it did before is done.',
      ...(place !== '' && { data: { line: ended.line, column: ended.column } }),
    });
  if (ended.problem === 'syntax')
    return new ToolError(message, 'VALIDATION_ERROR', { category: 'validation', outcome: 'not_executed' });
  const why =
    'The page forbids that text becomes code (Content-Security-Policy); the flavour of `tabrelay up --trusted-input` ' +
    'can run it';
  return new ToolError(why, 'EVALUATION_FORBIDDEN', {
    category: 'validation',
    outcome: 'not_executed',
    hint: 'Use browser__read, browser__find and browser__act, or ask the person for that flavour.',
  });
}

export const evaluate = defineTool({
  name: 'evaluate',
  displayName: 'Run code in the page',
  description:
    'Runs JavaScript among the page’s own scripts: an expression, a function, or statements with return. Promises ' +
    'are awaited; what is not data is described.',
  annotations: { readOnlyHint: false, destructiveHint: true, openWorldHint: true },
  input: s.parameters({
    code: s.string({ minLength: 1, maxLength: 100_000 }),
    frame: s.optional(s.string('Reference of the frame, or any in it, such as f1e1.')),
  }),
  async handle({ code }, { signal }) {
    const ended = await thePage().evaluate(code, limits, signal);
    if (typeof ended !== 'object' || ended === null) throw ToolError.internal('The page answered nothing');
    const told: Record<string, unknown> = { ...ended };
    if (typeof told.problem === 'string') throw failure(told);
    return {
      ...(told.nothing === true ? { undefined: true } : { value: redactValue(told.value) }),
      ...(told.truncated === true && { truncated: true }),
    };
  },
});
