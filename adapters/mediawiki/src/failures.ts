// What each error code of the Action API means to an agent. A code that is not here keeps its own name.
// https://www.mediawiki.org/wiki/API:Errors_and_warnings

import { ToolError, type ToolErrorOptions } from '@tabrelay/plugin-sdk';

/** One error as the API reports it. */
export interface ApiError {
  code: string;
  text: string;
}

/** What is known besides the error itself. */
export interface Circumstances {
  signInUrl: string;
  /** From the Retry-After header. */
  retryAfterMs: number | undefined;
}

type Meaning = readonly [code: string, options: ToolErrorOptions, advice: string];

const minute = 60_000;

const signIn: Meaning = [
  'AUTH_ERROR',
  { category: 'auth' },
  'Ask the person to sign in at {signIn}',
];
const forbidden: Meaning = [
  'PERMISSION_DENIED',
  { category: 'auth' },
  'The signed-in account may not do this. Tell the person; do not try another way around it.',
];
const missing: Meaning = ['NOT_FOUND', { category: 'not_found' }, 'Search for the page first.'];
const slowDown: Meaning = [
  'RATE_LIMITED',
  { category: 'rate_limit', retryable: true },
  'Wait, then try again.',
];
const conflict: Meaning = [
  'EDIT_CONFLICT',
  { category: 'validation' },
  'Nothing was changed. Read the page again and apply the change to its new text.',
];
const refused: Meaning = [
  'EDIT_REFUSED',
  { category: 'validation' },
  'A rule of this wiki refused the text. Nothing was changed.',
];
const invalid: Meaning = ['VALIDATION_ERROR', { category: 'validation' }, ''];
const busy: Meaning = [
  'WIKI_READ_ONLY',
  { category: 'internal', retryable: true, retryAfterMs: minute },
  'The wiki accepts no changes right now.',
];

const meanings: ReadonlyArray<readonly [pattern: RegExp, meaning: Meaning]> = [
  [/^(assert(named)?userfailed|notloggedin|readapidenied|mustbeloggedin|login-required)$/, signIn],
  [/^(maxlag|ratelimited|actionthrottledtext)$/, slowDown],
  [/^(editconflict|pagedeleted)$/, conflict],
  [
    /^articleexists$/,
    ['PAGE_EXISTS', { category: 'validation' }, 'Edit the page instead of creating it.'],
  ],
  [/^(missingtitle|nosuch(pageid|revid|section)|missingcontent.*|nocontent)$/, missing],
  [/^readonly$/, busy],
  [
    /^(protected(page|namespace|title|interface).*|cascadeprotected)$/,
    ['PAGE_PROTECTED', forbidden[1], forbidden[2]],
  ],
  [
    /^(permissiondenied|cantcreate(-anon)?|noedit(-anon)?|(auto)?blocked|namespaceprotected|.*notallowed)$/,
    forbidden,
  ],
  [/^(spam|abusefilter|titleblacklist|hookaborted|contenttoobig|emptypage|blankpage).*$/, refused],
  [/^(uploaddisabled|copyuploaddisabled)$/, forbidden],
  [
    /^(fileexists|filetype|verification-error|file-too-large|illegal-filename|empty-file|filename|stash).*$/,
    ['UPLOAD_REFUSED', { category: 'validation' }, 'Nothing was uploaded.'],
  ],
  [
    /^badtoken$/,
    ['TOKEN_REFUSED', { category: 'auth', retryable: true, retryAfterMs: 0 }, 'Try again.'],
  ],
  [
    /^captcha$/,
    [
      'CAPTCHA_REQUIRED',
      { category: 'auth' },
      'Ask the person to make this edit in the browser once.',
    ],
  ],
  [
    /^(pagecannotexist|(invalid|bad|missingparam|no|unknown|toomany|empty|mutuallyexclusive).*)$/,
    invalid,
  ],
];

/** The ToolError for an error of the API. It came before anything was done, so the outcome is not_executed. */
export function failure(error: ApiError, known: Circumstances): ToolError {
  const meaning = meanings.find(([pattern]) => pattern.test(error.code))?.[1];
  if (meaning === undefined)
    return new ToolError(sentence(error), ownCode(error), { outcome: 'not_executed' });
  const [code, options, advice] = meaning;
  const message = [sentence(error), advice.replace('{signIn}', known.signInUrl)]
    .filter(Boolean)
    .join(' ');
  return new ToolError(message, code, {
    ...options,
    outcome: 'not_executed',
    ...(options.retryable
      ? { retryAfterMs: known.retryAfterMs ?? options.retryAfterMs ?? minute }
      : {}),
  });
}

const sentence = (error: ApiError): string =>
  error.text || `The wiki answered with the error "${error.code}".`;

const ownCode = (error: ApiError): string =>
  `WIKI_${error.code.replaceAll(/[^a-z0-9]+/gi, '_').toUpperCase()}`;
