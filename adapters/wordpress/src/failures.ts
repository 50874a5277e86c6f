// What an error of the REST API means to an agent. https://developer.wordpress.org/rest-api/reference/

import { ToolError, type ToolErrorOptions } from '@tabrelay/plugin-sdk';
import { plainText } from '@tabrelay/plugin-sdk/html';

/** One error as the API reports it. */
export interface ApiError {
  code: string;
  message: string;
  status: number;
}

type Meaning = readonly [code: string, options: ToolErrorOptions, advice?: string];

const validation = { category: 'validation' } as const;

/** WordPress lets one person comment every 15 s. */
const floodMs = 15_000;

const byCode: ReadonlyArray<readonly [pattern: RegExp, meaning: Meaning]> = [
  [
    /^comment_flood$/,
    ['RATE_LIMITED', { category: 'rate_limit', retryable: true, retryAfterMs: floodMs }],
  ],
  [
    /^comment_duplicate$/,
    ['DUPLICATE_COMMENT', validation, 'The same comment stands there already.'],
  ],
  [
    /^rest_already_trashed$/,
    ['ALREADY_TRASHED', validation, 'update_post with a status takes it out of the trash.'],
  ],
  [/^term_exists$/, ['TERM_EXISTS', validation, 'list_terms finds it.']],
  [/^rest_upload_/, ['UPLOAD_REFUSED', validation]],
  [
    /^rest_(post|comment|term|user)_invalid(_id|_parent)?$/,
    ['NOT_FOUND', { category: 'not_found' }, 'List them first.'],
  ],
];

const byStatus: Readonly<Record<number, Meaning>> = {
  400: ['VALIDATION_ERROR', validation],
  403: [
    'PERMISSION_DENIED',
    { category: 'auth' },
    'The signed-in account may not do this. Tell the person; do not try another way around it.',
  ],
  404: ['NOT_FOUND', { category: 'not_found' }],
  409: ['CONFLICT', validation],
  413: ['UPLOAD_REFUSED', validation],
  429: ['RATE_LIMITED', { category: 'rate_limit', retryable: true, retryAfterMs: 60_000 }],
};

/** The ToolError for an error of the API. Below 500 it came before anything was done. */
export function failure({ code, message, status }: ApiError): ToolError {
  const said = plainText(message) || `The site answered with the error "${code}".`;
  const found = byCode.find(([pattern]) => pattern.test(code))?.[1] ?? byStatus[status];
  if (found) {
    const [name, options, advice = ''] = found;
    return new ToolError(`${said} ${advice}`.trim(), name, { ...options, outcome: 'not_executed' });
  }
  return new ToolError(said, 'SITE_ERROR', {
    category: 'internal',
    outcome: status >= 500 ? 'unknown' : 'not_executed',
  });
}
