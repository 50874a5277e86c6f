// Waiting as that SDK does: any failure is tried again, without a growing delay unless asked for, and a condition that
// throws does not hold yet.

import * as timing from '../timing.ts';
import { ToolError } from '../tool-error.ts';

export type RetryOptions = timing.RetryOptions;
export type WaitUntilOptions = timing.WaitUntilOptions;

export async function retry<T>(attempt: () => Promise<T>, options: RetryOptions = {}): Promise<T> {
  const { maxAttempts = 3, delay = 1000, backoff = false, maxDelay = 30_000, signal } = options;
  if (!Number.isFinite(maxAttempts) || maxAttempts < 1) {
    throw ToolError.internal(`retry takes maxAttempts of at least 1, not ${maxAttempts}`);
  }
  for (let number = 1; ; number++) {
    signal?.throwIfAborted();
    try {
      return await attempt();
    } catch (error) {
      if (number >= maxAttempts) throw error;
      await timing.sleep(Math.min(delay * (backoff ? 2 ** (number - 1) : 1), maxDelay), { signal });
    }
  }
}

export const waitUntil = (
  condition: () => boolean | Promise<boolean>,
  options?: WaitUntilOptions,
): Promise<void> =>
  timing.waitUntil(async () => {
    try {
      return await condition();
    } catch {
      return false;
    }
  }, options);
