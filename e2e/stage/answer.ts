// What a tool call answered, read the way an agent reads it: as text.

import { z } from 'zod';

const Result = z.object({
  content: z.array(z.object({ type: z.string(), text: z.string().optional() })),
  isError: z.boolean().optional(),
  structuredContent: z.unknown().optional(),
  _meta: z.record(z.string(), z.unknown()).optional(),
});

const PageFields = z.strictObject({
  code: z.string(),
  category: z.string().optional(),
  retryable: z.boolean(),
  retryAfterMs: z.number().optional(),
});

const Outcome = z.enum(['not_executed', 'executed', 'unknown']);

/** The second text item of a failure, which says what the first does not. */
const Second = z.object({
  outcome: Outcome.optional(),
  attempts: z.number().min(2).optional(),
  hint: z.string().default(''),
});

export class Answer {
  readonly failed: boolean;
  readonly texts: readonly string[];
  readonly structured: unknown;
  readonly meta: Readonly<Record<string, unknown>>;

  constructor(result: unknown) {
    const parsed = Result.parse(result);
    this.failed = parsed.isError ?? false;
    this.texts = parsed.content.map((item) => item.text ?? '');
    this.structured = parsed.structuredContent;
    this.meta = parsed._meta ?? {};
  }

  /** The first text item. */
  get text(): string {
    return this.texts[0] ?? '';
  }

  /** The value of a call that succeeded; throws with the failure's text otherwise. That of an act is said in lines. */
  get value(): unknown {
    if (this.failed) throw new Error(`the call failed: ${this.texts.join('\n')}`);
    return this.text.startsWith('{') || this.structured === undefined
      ? JSON.parse(this.text)
      : this.structured;
  }

  /**
   * The value of a call that succeeded, the text of one that failed: for expect.poll, which ends when something
   * throws.
   */
  get said(): unknown {
    return this.failed ? this.text : this.value;
  }

  /** The JSON block at the end of the first text item of a failure. */
  get block(): Record<string, unknown> {
    const found = /\n\n```json\n(.*)\n```$/s.exec(this.text)?.[1];
    if (found === undefined)
      throw new Error(`there is no JSON block at the end of: ${this.text.slice(0, 2000)}`);
    return z.record(z.string(), z.unknown()).parse(JSON.parse(found));
  }

  /** The block of a page's error, which has four fields at most. */
  get pageFields() {
    return PageFields.parse(this.block);
  }

  /** What an agent reads of a failure besides its four fields: in the block of the relay's own, else in the second text. */
  get facts() {
    const second = Second.parse(JSON.parse(this.texts[1] ?? '{}'));
    return {
      outcome: Outcome.parse(this.block.outcome ?? second.outcome),
      attempts: second.attempts ?? 1,
      hint: second.hint,
    };
  }

  /** The id by which logs, audit and the page's console name the call. */
  get correlationId(): string {
    return z.object({ correlationId: z.string() }).parse(this.meta['tabrelay/error']).correlationId;
  }

  get code(): unknown {
    return this.failed ? this.block.code : undefined;
  }
}
