// Generated from the table in relay/road/fault by `go generate ./relay/road/fault`. Do not edit.

/** What kind of failure it is, as far as an agent has to know. */
export const errorCategories = [
  'auth',
  'rate_limit',
  'not_found',
  'validation',
  'internal',
  'timeout',
] as const;
export type ErrorCategory = (typeof errorCategories)[number];

/** Whether the action happened: the handler knows it best. */
export const outcomes = ['not_executed', 'executed', 'unknown'] as const;
export type Outcome = (typeof outcomes)[number];

/** What the factories of ToolError set, by their names. */
export const factories = {
  auth: { code: 'AUTH_ERROR', category: 'auth', retryable: false },
  notFound: { code: 'NOT_FOUND', category: 'not_found', retryable: false },
  rateLimited: { code: 'RATE_LIMITED', category: 'rate_limit', retryable: true },
  validation: { code: 'VALIDATION_ERROR', category: 'validation', retryable: false },
  timeout: { code: 'TIMEOUT', category: 'timeout', retryable: true },
  internal: { code: 'INTERNAL_ERROR', category: 'internal', retryable: false },
} as const;
