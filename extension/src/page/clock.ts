// A call's deadline in the page. Progress does not restart the timer: it only stores the time, and the timer checks it.
import type { CallOrder } from '../shared/order.ts';
import { ceil, dropTimer, later, max, min, now, round } from '../shared/primordials.ts';

export type Expiry = 'fixed' | 'idle' | 'max_exceeded';

export interface Clock {
  progress(): void;
  stop(): void;
}

export type Limits = Pick<CallOrder, 'timeoutMs' | 'maxTimeoutMs' | 'progressExtends'>;

/** Calls expired once when the time is up: fixed, or idle since the last progress but never past the maximum. */
export function startClock(limits: Limits, expired: (reason: Expiry) => void): Clock {
  const start = now();
  let lastSign = start;
  const check = () => {
    const at = now();
    if (!limits.progressExtends) {
      expired('fixed');
    } else if (at - start >= limits.maxTimeoutMs) {
      expired('max_exceeded');
    } else if (at - lastSign >= limits.timeoutMs) {
      expired('idle');
    } else {
      arm(at);
    }
  };
  const arm = (at: number) => {
    const idle = lastSign + limits.timeoutMs;
    const end = limits.progressExtends ? min(idle, start + limits.maxTimeoutMs) : idle;
    timer = later(check, max(1, ceil(end - at)));
  };
  let timer: ReturnType<typeof setTimeout>;
  arm(start);
  return {
    progress: () => {
      lastSign = now();
    },
    stop: () => dropTimer(timer),
  };
}

/** The sentence a person reads for each way a deadline passes. */
export function expiryText(reason: Expiry, limits: Limits): string {
  const seconds = (ms: number) => `${round(ms / 100) / 10}s`;
  switch (reason) {
    case 'fixed':
      return `Tool timed out after ${seconds(limits.timeoutMs)}`;
    case 'idle':
      return `Tool timed out after ${seconds(limits.timeoutMs)} (no progress reported)`;
    case 'max_exceeded':
      return `Tool exceeded maximum runtime of ${seconds(limits.maxTimeoutMs)}`;
  }
}
