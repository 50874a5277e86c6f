import { type ErrorCategory, ToolError } from './tool-error.ts';

/** What `ok` answers. */
export interface Success<T> {
  readonly success: true;
  readonly result: T;
}

/** Wraps an answer, for tools whose answers are told apart by `success`. Most tools return their value as it is. */
export const ok = <T>(result: T): Success<T> => ({ success: true, result });

/** The kinds of failure that have a name. Any other word is taken as well. */
export type FailureType =
  | 'not_found'
  | 'validation_error'
  | 'invalid_json'
  | 'permission_denied'
  | 'file_error'
  | 'network_error'
  | 'redirect'
  | 'timeout'
  | 'cli_error'
  | 'internal_error'
  | 'path_not_found'
  | 'invalid_array_path'
  | 'invalid_path_syntax'
  | 'output_too_large';

/** What `fail` says. */
export interface Failure {
  /** Default `internal_error`. */
  readonly type?: FailureType | (string & {});
  readonly message: string;
  /** What to do next. */
  readonly hint?: string | undefined;
  /** More about it; anything that has a JSON form. */
  readonly data?: unknown;
}

const categories: Readonly<Record<string, ErrorCategory>> = {
  not_found: 'not_found',
  path_not_found: 'not_found',
  validation_error: 'validation',
  invalid_json: 'validation',
  invalid_array_path: 'validation',
  invalid_path_syntax: 'validation',
  output_too_large: 'validation',
  permission_denied: 'auth',
  timeout: 'timeout',
};

/**
 * Ends the call with a failure: it throws the ToolError whose code is the type in capitals. Type, hint and data reach
 * the agent as fields of their own.
 */
export function fail({ type, message, hint, data }: Failure): never {
  const kind = type || 'internal_error';
  throw new ToolError(message, kind.toUpperCase(), {
    category: categories[kind] ?? 'internal',
    retryable: kind === 'timeout' || kind === 'network_error',
    type: kind,
    hint: hint || undefined,
    data,
  });
}
