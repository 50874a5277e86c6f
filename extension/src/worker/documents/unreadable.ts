// Errors of reading a tab.

import { blockedByPolicy, policyBlocks } from './inject.ts';

/** Why a tab cannot be read, with a code of the relay's fault table. */
export class Unreadable extends Error {
  readonly code: 'TAB_NOT_FOUND' | 'TAB_UNRESPONSIVE' | 'TAB_CHANGED' | 'INJECTION_FAILED';

  constructor(code: Unreadable['code'], message: string) {
    super(message);
    this.code = code;
  }
}

export const answerMs = 20_000; // sooner than the relay gives up; a page of 10 MB on a busy machine takes more than 8 s

// Chrome's errors have messages but no codes, and some of the messages contain the page's whole address.
export function toUnreadable(why: unknown): Unreadable {
  if (why instanceof Unreadable) return why;
  const text = why instanceof Error ? why.message : String(why);
  if (/no tab with id|tab was closed/i.test(text))
    return new Unreadable('TAB_NOT_FOUND', 'The tab was closed');
  if (/error page/i.test(text))
    return new Unreadable('INJECTION_FAILED', 'The tab shows an error of Chrome in place of the page');
  if (/frame with id|document with id|was removed/i.test(text))
    return new Unreadable('TAB_CHANGED', 'The tab went to another page meanwhile');
  if (blockedByPolicy(text)) return new Unreadable('INJECTION_FAILED', policyBlocks);
  if (/cannot be scripted|extensions gallery/i.test(text))
    return new Unreadable('INJECTION_FAILED', 'Chrome lets no extension into this page');
  if (/cannot access/i.test(text))
    return new Unreadable('INJECTION_FAILED', 'The extension may not read this site');
  return new Unreadable('INJECTION_FAILED', 'Chrome did not let the extension into the page');
}

export async function inTime<T>(work: Promise<T>, ms = answerMs): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    const seconds = Math.round(ms / 1000);
    const why = new Unreadable('TAB_UNRESPONSIVE', `The page did not answer within ${seconds} s`);
    timer = setTimeout(() => reject(why), ms);
  });
  return Promise.race([work, late]).finally(() => clearTimeout(timer));
}
