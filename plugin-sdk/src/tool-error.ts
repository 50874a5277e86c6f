import { type ErrorCategory, factories, type Outcome } from './faults.generated.ts';

export type { ErrorCategory, Outcome };

/** What else is known about a failure. */
export interface ToolErrorOptions {
  /** Whether the same call may succeed later. Default false. */
  retryable?: boolean | undefined;
  /** How long to wait before trying again, in milliseconds. */
  retryAfterMs?: number | undefined;
  category?: ErrorCategory | undefined;
  /** Whether the action happened. Left out, the agent reads `executed`: the handler ran to its end. */
  outcome?: Outcome | undefined;
  /** The finer kind of failure, in lower case: `path_not_found`. */
  type?: string | undefined;
  /** What to do next. */
  hint?: string | undefined;
  /** More about it: anything that has a JSON form, at most 16 KiB of it. */
  data?: unknown;
}

/**
 * A failure that an agent can act on. Throw it from a handler: its fields reach the agent unchanged.
 *
 *     throw ToolError.notFound(`There is no channel "${name}"`);
 *     throw new ToolError('The export has too many rows', 'EXPORT_TOO_LARGE', { category: 'validation' });
 */
export class ToolError extends Error {
  declare readonly code: string;
  declare readonly retryable: boolean;
  declare readonly retryAfterMs: number | undefined;
  declare readonly category: ErrorCategory | undefined;
  declare readonly outcome: Outcome | undefined;
  declare readonly type: string | undefined;
  declare readonly hint: string | undefined;
  declare readonly data: unknown;

  constructor(message: string, code: string, opts: ToolErrorOptions = {}) {
    super(message);
    this.name = 'ToolError';
    this.code = code;
    this.retryable = opts.retryable ?? false;
    this.retryAfterMs = opts.retryAfterMs;
    this.category = opts.category;
    this.outcome = opts.outcome;
    this.type = opts.type;
    this.hint = opts.hint;
    this.data = opts.data;
  }

  /** The person has to sign in, or may not do this. Not retryable. */
  static auth(message: string, code: string = factories.auth.code): ToolError {
    return new ToolError(message, code, factories.auth);
  }

  /** What was asked for does not exist. Not retryable. */
  static notFound(message: string, code: string = factories.notFound.code): ToolError {
    return new ToolError(message, code, factories.notFound);
  }

  /** Too many requests. Retryable, after `retryAfterMs` where the site says so. */
  static rateLimited(
    message: string,
    retryAfterMs?: number,
    code: string = factories.rateLimited.code,
  ): ToolError {
    return new ToolError(message, code, { ...factories.rateLimited, retryAfterMs });
  }

  /** The arguments are wrong. Not retryable. */
  static validation(message: string, code: string = factories.validation.code): ToolError {
    return new ToolError(message, code, factories.validation);
  }

  /** It took too long. Retryable. */
  static timeout(message: string, code: string = factories.timeout.code): ToolError {
    return new ToolError(message, code, factories.timeout);
  }

  /** Something is wrong with the plugin or the page. Not retryable. */
  static internal(message: string, code: string = factories.internal.code): ToolError {
    return new ToolError(message, code, factories.internal);
  }

  /** Two bundles on a page have two copies of this class: each takes the other's errors for its own. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    // biome-ignore lint/complexity/noThisInStatic: a subclass inherits this method, and `this` is then the subclass.
    return isInstance(this, value) || (this === ToolError && looksLikeToolError(value));
  }
}

const isInstance = (asked: unknown, value: unknown): boolean =>
  Function.prototype[Symbol.hasInstance].call(asked, value);

const looksLikeToolError = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  'name' in value &&
  value.name === 'ToolError' &&
  'code' in value &&
  typeof value.code === 'string';
