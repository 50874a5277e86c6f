import { network } from './network.ts';
import type { Reply } from './scope.ts';
import { type ErrorCategory, type Outcome, ToolError } from './tool-error.ts';

const bodyChars = 512;

/** The ToolError of an answer that is not a success: what to throw after `if (!response.ok)`. */
export function httpStatusToToolError(response: Response, message?: string): Promise<ToolError> {
  const reply = network().reply(response);
  return network().keep(described(reply, message));
}

async function described(reply: Reply, message: string | undefined): Promise<ToolError> {
  const { url, status } = reply;
  return replyError(reply, message ?? `${url || 'The site'} answered ${status}${await excerpt(reply)}`);
}

/** The same without looking into the body. */
export const statusError = (response: Response, message: string): ToolError =>
  replyError(network().reply(response), message);

function replyError({ status, header }: Reply, message: string): ToolError {
  const [code, category, retryable] = meaning(status);
  // A 4xx is the site's word that it did not do what was asked; after a 5xx nobody knows.
  const outcome: Outcome = status >= 500 ? 'unknown' : 'not_executed';
  return new ToolError(message, code, {
    category,
    retryable,
    outcome,
    retryAfterMs: retryable ? retryAfterMs(header) : undefined,
  });
}

type Meaning = readonly [code: string, category: ErrorCategory | undefined, retryable: boolean];

function meaning(status: number): Meaning {
  switch (status) {
    case 401:
    case 403:
      return ['AUTH_ERROR', 'auth', false];
    case 404:
      return ['NOT_FOUND', 'not_found', false];
    case 408:
      return ['TIMEOUT', 'timeout', true];
    case 400:
    case 422:
      return ['VALIDATION_ERROR', 'validation', false];
    case 429:
      return ['RATE_LIMITED', 'rate_limit', true];
    case 500:
    case 502:
    case 503:
    case 504:
      return ['INTERNAL_ERROR', 'internal', true];
  }
  return [`HTTP_${status}`, status >= 500 ? 'internal' : undefined, false];
}

/** The beginning of an error's body: often the only place where a site says what is wrong. */
async function excerpt(reply: Reply): Promise<string> {
  try {
    const text = (await network().keep(reply.text())).trim();
    return text === '' ? '' : `: ${text.length > bodyChars ? `${text.slice(0, bodyChars)}…` : text}`;
  } catch {
    return ''; // The connection broke while the body came; the status says enough.
  }
}

/** Retry-After in milliseconds: a number of seconds, or a date. Undefined when it is missing or nonsense. */
export function parseRetryAfterMs(header: string | null | undefined): number | undefined {
  const value = header?.trim();
  if (!value) return undefined;
  if (/^\d+(\.\d+)?$/.test(value)) return Math.ceil(Number(value) * 1000);
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** When to come back, in milliseconds: from Retry-After, or from the headers sites use in its place. */
export const parseRateLimitHeader = (headers: Headers): number | undefined =>
  retryAfterMs((name) => headers.get(name));

function retryAfterMs(header: Reply['header']): number | undefined {
  const retryAfter = parseRetryAfterMs(header('retry-after'));
  if (retryAfter !== undefined) return retryAfter;
  for (const name of ['x-rate-limit-reset', 'x-ratelimit-reset', 'ratelimit-reset']) {
    const value = header(name)?.trim();
    if (!value || !/^\d+(\.\d+)?$/.test(value)) continue;
    const seconds = Number(value);
    // Some sites send the time of the reset, some the seconds until then. No reset is thirty years away.
    const ms = seconds > 1e9 ? seconds * 1000 - Date.now() : seconds * 1000;
    return Math.max(0, Math.ceil(ms));
  }
  return undefined;
}
