import { ToolError } from './tool-error.ts';

export interface WaitOptions {
  /** Ends the wait: it throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Waits. Hand it the call's signal, so that a cancelled call ends at once. */
export function sleep(ms: number, { signal }: WaitOptions = {}): Promise<void> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, ms);
    signal?.addEventListener('abort', stop, { once: true });
  });
}

export interface WaitUntilOptions extends WaitOptions {
  /** How often to look, in milliseconds. Default 200. */
  readonly interval?: number;
  /** When to give up, in milliseconds. Default 10 000. */
  readonly timeout?: number;
}

/** Waits until a condition holds, and throws a timeout when it does not in time. */
export async function waitUntil(
  condition: () => boolean | Promise<boolean>,
  { interval = 200, timeout = 10_000, signal }: WaitUntilOptions = {},
): Promise<void> {
  const end = performance.now() + timeout;
  while (!(await condition())) {
    const left = end - performance.now();
    if (left <= 0) throw ToolError.timeout(`What was waited for did not happen within ${timeout / 1000} s`);
    await sleep(Math.min(interval, left), { signal });
  }
}

export interface RetryOptions extends WaitOptions {
  /** How often to try, the first time included. Default 3. */
  readonly maxAttempts?: number;
  /** Before the second try, in milliseconds. Default 1000. */
  readonly delay?: number;
  /** Double the delay each time. Default true. */
  readonly backoff?: boolean;
  /** Longest delay in milliseconds. Default 30 000. */
  readonly maxDelay?: number;
}

/**
 * Tries again after a failure. A ToolError that is not retryable ends it at once, and one that says when to come
 * back is waited for. Only for what can be repeated: a request that writes may have been carried out.
 */
export async function retry<T>(
  attempt: (number: number) => Promise<T>,
  { maxAttempts = 3, delay = 1000, backoff = true, maxDelay = 30_000, signal }: RetryOptions = {},
): Promise<T> {
  for (let number = 1; ; number++) {
    signal?.throwIfAborted();
    try {
      return await attempt(number);
    } catch (error) {
      if (number >= maxAttempts || signal?.aborted || (error instanceof ToolError && !error.retryable))
        throw error;
      const asked = error instanceof ToolError ? error.retryAfterMs : undefined;
      await sleep(Math.min(asked ?? delay * (backoff ? 2 ** (number - 1) : 1), maxDelay), { signal });
    }
  }
}
