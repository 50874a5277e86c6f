// Why an act was not done. What is thrown here reaches the agent as a failure that says so: nothing was done.
import type { Outcome } from '../../shared/order.ts';

export type ActCode =
  | 'NEEDS_TRUSTED_INPUT'
  | 'TARGET_COVERED'
  | 'TARGET_NOT_READY'
  | 'VALIDATION_ERROR'
  | 'SENSITIVE_FIELD'
  | 'REF_GONE'
  | 'DOCUMENT_CHANGED'
  | 'FRAME_GONE';

export class NotDone extends Error {
  readonly code: string;
  outcome: Outcome = 'not_executed';
  readonly retryable = false;
  readonly hint: string | undefined;
  data: Record<string, unknown> | undefined;
  eventsBefore: number | undefined; // that had been sent when the pointer began to move, where it did nothing else

  constructor(
    code: ActCode | string,
    message: string,
    more: { hint?: string; data?: Record<string, unknown> } = {},
  ) {
    super(message);
    this.code = code;
    this.hint = more.hint;
    this.data = more.data;
  }
}
