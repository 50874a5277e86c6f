import { sleep } from './timing.ts';
import { ToolError } from './tool-error.ts';

/** How a plugin knows that a person is signed in. */
export interface SignIn {
  /** Whether somebody is signed in on this page, now. Asked before each call; it must not change anything. */
  isSignedIn(): boolean | Promise<boolean>;
  /** Where to sign in, absolute or relative to the page. */
  readonly loginUrl: string | (() => string);
  /** How long a page may take to know it, in milliseconds: applications show themselves before they do. Default 2000. */
  readonly waitMs?: number;
}

const lookEveryMs = 100;

/** Waits until somebody is signed in, or fails with AUTH_ERROR and the address where to sign in. */
export async function requireSignIn(
  { isSignedIn, loginUrl, waitMs = 2000 }: SignIn,
  signal?: AbortSignal,
): Promise<void> {
  const end = performance.now() + waitMs;
  while (!(await isSignedIn())) {
    const left = end - performance.now();
    if (left <= 0) throw signedOut(typeof loginUrl === 'string' ? loginUrl : loginUrl());
    await sleep(Math.min(lookEveryMs, left), { signal });
  }
}

function signedOut(loginUrl: string): ToolError {
  const { href } = new URL(loginUrl, location.href);
  return new ToolError(
    `Nobody is signed in. Ask the person to sign in at ${href}, then call again.`,
    'AUTH_ERROR',
    {
      category: 'auth',
      outcome: 'not_executed',
    },
  );
}
