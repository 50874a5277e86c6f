// What the wiki's refusals mean to an agent. Its words are in the person's language, so they are told by the action
// that it ran, and quoted.

import {
  type ErrorCategory,
  signedOut,
  ToolError,
  type ToolErrorOptions,
} from '@tabrelay/plugin-sdk';
import { signIn } from './wiki.ts';

/** A failure after which everything is as it was. */
const refused = (
  message: string,
  code: string,
  category: ErrorCategory,
  more: ToolErrorOptions = {},
): ToolError => new ToolError(message, code, { ...more, category, outcome: 'not_executed' });

export const invalid = (message: string): ToolError =>
  refused(message, 'VALIDATION_ERROR', 'validation');

export const missing = (message: string): ToolError => refused(message, 'NOT_FOUND', 'not_found');

export const noSuchPage = (id: string): ToolError =>
  missing(`There is no page "${id}" that the person may read. Search for it, or create it.`);

export const noSuchRevision = (id: string, revision: number): ToolError =>
  missing(`"${id}" has no revision ${revision}. page_history lists them.`);

/** The rules of the wiki do not let this person do it; somebody who is not signed in may be let after that. */
export const denied = (isKnown: boolean): ToolError =>
  isKnown
    ? refused(
        'The signed-in account may not do this here. Tell the person; do not try another way around it.',
        'PERMISSION_DENIED',
        'auth',
      )
    : signedOut(signIn);

export const switchedOff = (action: string, said: string): ToolError =>
  refused(
    `The wiki did not do "${action}"${said === '' ? '' : `: ${said}`}. Whoever runs it may have switched it off.`,
    'ACTION_DISABLED',
    'validation',
  );

export const conflict = (id: string, since: number, by: string): ToolError =>
  refused(
    `"${id}" has changed since revision ${since}${by}. ` +
      'Nothing was changed. Read the page again and apply the change to its new text.',
    'EDIT_CONFLICT',
    'validation',
  );

export const pageExists = (id: string): ToolError =>
  refused(
    `There is a page "${id}" already. Edit it instead of creating it.`,
    'PAGE_EXISTS',
    'validation',
  );

/** Somebody else has the page in their editor. `said` is the wiki's own word on who and until when. */
export const locked = (id: string, said: string, minutes: number): ToolError =>
  refused(
    `Somebody else is editing "${id}". ${said} Nothing was changed. Try again after that.`,
    'PAGE_LOCKED',
    'internal',
    { retryable: true, retryAfterMs: Math.max(1, minutes) * 60_000 },
  );

export const draftWaits = (id: string): ToolError =>
  refused(
    `The person has an unsaved draft of "${id}", which saving would delete. Nothing was changed. ` +
      'Ask them to open the page in the editor and to save the draft or to discard it.',
    'UNSAVED_DRAFT',
    'validation',
  );

export const captchaRequired = (): ToolError =>
  refused(
    'The wiki wants a CAPTCHA solved before it saves this. Ask the person to make the edit in the browser.',
    'CAPTCHA_REQUIRED',
    'auth',
  );

export const editRefused = (said: string): ToolError =>
  refused(
    `The wiki did not save the text: ${said || 'it gave no reason'}. Nothing was changed.`,
    'EDIT_REFUSED',
    'validation',
  );

export const uploadRefused = (said: string): ToolError =>
  refused(`${said} Nothing was uploaded.`, 'UPLOAD_REFUSED', 'validation');

export const fileExists = (id: string): ToolError =>
  refused(
    `There is a file "${id}" already. Choose another name, or use the one that is there.`,
    'FILE_EXISTS',
    'validation',
  );

export const tooLarge = (limit = 'the web server of the wiki takes'): ToolError =>
  refused(
    `The file is larger than ${limit}. Nothing was uploaded.`,
    'MEDIA_TOO_LARGE',
    'validation',
  );

export const fileInUse = (id: string, pages: readonly string[]): ToolError =>
  refused(
    `"${id}" is used in ${pages.join(', ')}. Nothing was deleted. Take it out of these pages first.`,
    'MEDIA_IN_USE',
    'validation',
  );

/** The person signed out, or in as somebody else, between the form and its sending. */
export const tokenRefused = (): ToolError =>
  refused('The wiki did not take the token of its own form.', 'TOKEN_REFUSED', 'auth', {
    retryable: true,
    retryAfterMs: 0,
  });

export const isTokenRefused = (error: unknown): boolean =>
  error instanceof ToolError && error.code === 'TOKEN_REFUSED';
