// What an error of the reader means to an agent. It has numbers for those of a request, and nothing for a thing that
// does not exist: the tools look before they change it.

import { lostSession, type Outcome, ToolError } from '@tabrelay/plugin-sdk';
import { plainText } from '@tabrelay/plugin-sdk/html';
import { invalidResponse } from '@tabrelay/plugin-sdk/json';

/** No session, or a token that is not its own. The reader did nothing. */
export const unauthorized = 6;

const meanings: Readonly<Record<number, readonly [code: string, message: string]>> = {
  5: ['SITE_ERROR', 'The database of the reader has to be updated by whoever runs it.'],
  8: ['PERMISSION_DENIED', 'The account may not do this.'],
  13: ['NOT_SUPPORTED', 'This version of Tiny Tiny RSS does not know this request.'],
  14: ['PLUGIN_MISSING', 'The plugin of Tiny Tiny RSS that does this is switched off.'],
};

/** The ToolError for an error with a number. Those that are known come before anything was done. */
export function failure(code: number, said: string): ToolError {
  const meaning = meanings[code];
  if (meaning === undefined) return invalidResponse(`error ${code}: ${said}`, 'unknown');
  const [name, message] = meaning;
  const category = name === 'PERMISSION_DENIED' ? 'auth' : 'internal';
  return new ToolError(message, name, { category, outcome: 'not_executed' });
}

export const denied = (): ToolError =>
  new ToolError(
    'The reader refuses this with a new token too: the account may not do it. Tell the person.',
    'PERMISSION_DENIED',
    { category: 'auth', outcome: 'not_executed' },
  );

/** What it means that the reader answered something other than it was asked for. */
export function siteError(said: string, outcome: Outcome | undefined): ToolError {
  const signedOut = lostSession(said, outcome);
  if (signedOut) return signedOut;
  const words = plainText(said).slice(0, 300);
  if (!/\bPDO\b/.test(words)) return invalidResponse(`it is "${words}"`, outcome);
  return new ToolError(`The reader has lost its database. It said: ${words}`, 'SITE_ERROR', {
    category: 'internal',
    retryable: true,
    outcome,
  });
}

export const invalid = (message: string, code = 'VALIDATION_ERROR'): ToolError =>
  new ToolError(message, code, { category: 'validation', outcome: 'not_executed' });

export const missing = (message: string, code = 'NOT_FOUND'): ToolError =>
  new ToolError(message, code, { category: 'not_found', outcome: 'not_executed' });

/** The reader could not fetch a feed. What the feed's server refused for good is not worth another try. */
export const unreachable = (url: string, said: string, outcome: Outcome): ToolError => {
  const reason = (/^HTTP\/[^;]*/.exec(said)?.[0] ?? said).trim() || 'no reason given';
  const passes = !/^HTTP\/\S+ 4(?!08|29)\d\d/.test(reason) && !/validation|loopback/.test(reason);
  return new ToolError(`The reader could not fetch ${url}: ${reason}`, 'FEED_UNREACHABLE', {
    category: 'internal',
    retryable: passes,
    retryAfterMs: passes ? 60_000 : undefined,
    outcome,
  });
};
