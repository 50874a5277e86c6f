// What an error that Roundcube shows means to an agent. It has no codes, and its words are in the person's language:
// what can be told from numbers in them is, the rest keeps its text.

import { ToolError } from '@tabrelay/plugin-sdk';

/** The ToolError for a message that the person would read. Roundcube shows one when it did not do what was asked. */
export function failure(said: string): ToolError {
  const smtp = /SMTP[^()]*\((-?\d+)\)/.exec(said)?.[1];
  if (smtp !== undefined) return refusedMail(said, Number(smtp));
  const seconds = /wait (\d+) sec/i.exec(said)?.[1];
  if (seconds !== undefined) {
    return new ToolError(said, 'RATE_LIMITED', {
      category: 'rate_limit',
      retryable: true,
      retryAfterMs: Number(seconds) * 1000,
      outcome: 'not_executed',
    });
  }
  if (/doesn't exist|NONEXISTENT|TRYCREATE/i.test(said)) {
    return new ToolError(`${said} list_folders has the folders there are.`, 'NOT_FOUND', {
      category: 'not_found',
      outcome: 'not_executed',
    });
  }
  if (/IMAP|storage server|Server Error/i.test(said)) {
    return new ToolError(said, 'MAIL_SERVER_ERROR', { category: 'internal', retryable: true });
  }
  return invalid(said);
}

/** The reply codes of RFC 5321: 5yz is for good, everything else may pass. */
function refusedMail(said: string, code: number): ToolError {
  if (code >= 500) {
    return new ToolError(`${said} Nothing was sent.`, 'MAIL_REFUSED', {
      category: 'validation',
      outcome: 'not_executed',
    });
  }
  return new ToolError(said, 'MAIL_SERVER_ERROR', {
    category: 'internal',
    retryable: true,
    outcome: 'not_executed',
  });
}

export const invalid = (message: string): ToolError =>
  new ToolError(message, 'VALIDATION_ERROR', { category: 'validation', outcome: 'not_executed' });

export const missing = (message: string): ToolError =>
  new ToolError(message, 'NOT_FOUND', { category: 'not_found', outcome: 'not_executed' });
