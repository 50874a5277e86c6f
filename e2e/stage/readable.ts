// What every failure that the relay raises itself has to give an agent, which reads text and nothing else.

import { z } from 'zod';
import type { Answer } from './answer.ts';
import { expect } from './test.ts';

const Failure = z.object({
  code: z.string(),
  hint: z.string().min(10),
  outcome: z.enum(['not_executed', 'executed', 'unknown']),
  correlationId: z.string().regex(/^[0-9a-f]{32}$/),
  message: z.string().min(10),
  retryable: z.boolean(),
  attempts: z.number().default(0), // of a call that was refused before the first
});

/** Checks a failure of the relay's own, with this code, and returns its whole error object. */
export function expectReadable(answer: Answer, code: string): z.infer<typeof Failure> {
  const lines = answer.text.split('\n');
  expect(answer.failed).toBe(true);
  expect(lines.filter((line) => line.startsWith('[ERROR '))).toEqual([lines[0]]);
  const next = lines.filter((line) => /^(Next|Suggestion): \S/.test(line));
  expect(next.length, answer.text).toBeGreaterThan(0);
  // Header, next steps, an empty line, the block: nothing else.
  expect(lines).toEqual([lines[0], ...next, '', '```json', JSON.stringify(answer.block), '```']);
  const failure = Failure.parse(answer.meta['tabrelay/error']);
  const { outcome, correlationId, attempts, retryable } = failure;
  expect(failure.code).toBe(code);
  expect(answer.block).toMatchObject({ code, outcome, correlationId, retryable });
  expect(answer.texts.slice(1)).toEqual(attempts > 1 ? [JSON.stringify({ attempts })] : []);
  expect(lines[0]).toContain(` retryable=${retryable}`);
  expect(lines[0]).toContain(` outcome=${outcome}] ${failure.message}`);
  if (process.env.TABRELAY_SHOW !== undefined) console.log(`${answer.texts.join('\n')}\n`);
  return failure;
}
