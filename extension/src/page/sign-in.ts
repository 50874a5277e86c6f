// A plugin says how to know that a person is signed in; waiting for it, and the words when nobody is, are here.
import { isNumber, isRecord, isText } from '../shared/guards.ts';
import { absoluteUrl, call, later, max, min, now, settle } from '../shared/primordials.ts';
import { type Callable, isCallable } from './hooks.ts';

export interface SignIn {
  isSignedIn: Callable;
  loginUrl: Callable | string;
  waitMs: number; // how long the page may take to know it
  self: object;
}

const defaultWaitMs = 2000;
const askAgainMs = 100;
const askAgainSlowlyMs = 1000; // while a person signs in: an answer may cost a request

/** Reads the SDK's `signIn`; undefined when the plugin has none. */
export function readSignIn(value: unknown): SignIn | undefined {
  if (!isRecord(value) || !isCallable(value.isSignedIn)) return undefined;
  const { isSignedIn, loginUrl, waitMs } = value;
  if (!isText(loginUrl) && !isCallable(loginUrl)) return undefined;
  return { isSignedIn, loginUrl, waitMs: isNumber(waitMs) ? waitMs : defaultWaitMs, self: value };
}

/** Goes on when somebody is signed in within waitMs, and fails with what a handler would throw when nobody is. */
export function awaitSignIn(
  signIn: SignIn,
  waitMs: number,
  over: () => boolean,
  signedIn: () => void,
  failed: (thrown: unknown) => void,
): void {
  const asking = now();
  const pause = waitMs > signIn.waitMs ? askAgainSlowlyMs : askAgainMs;
  const said = (answer: unknown) => {
    if (over()) return;
    const left = waitMs - (now() - asking);
    if (answer) signedIn();
    else if (left > 0) later(ask, max(1, min(pause, left)));
    else failed(signedOut(signIn));
  };
  const ask = () => {
    try {
      settle(call(signIn.isSignedIn, signIn.self, []), said, failed);
    } catch (thrown) {
      failed(thrown);
    }
  };
  ask();
}

/** Where a person signs in; empty when the plugin cannot say it. */
export function loginAddress({ loginUrl, self }: SignIn): string {
  try {
    const address = isText(loginUrl) ? loginUrl : call(loginUrl, self, []);
    return isText(address) ? absoluteUrl(address) : '';
  } catch {
    return '';
  }
}

function signedOut(signIn: SignIn): object {
  const address = loginAddress(signIn);
  const where = address === '' ? 'in the page' : `at ${address}`;
  return {
    __proto__: null,
    code: 'AUTH_ERROR',
    category: 'auth',
    retryable: false,
    outcome: 'not_executed',
    message: `Nobody is signed in. Ask the person to sign in ${where}, then call again.`,
  };
}
