// Short waits of the browser's tools. In a page that is hidden Chrome lets timers run once a second, and after five
// minutes once a minute; the worker's are not slowed, so that it says when the time is over.
import type { FromBridge } from '../../../shared/bridge-messages.ts';

export class Pauses {
  readonly #post: (message: FromBridge) => void;
  readonly #waiting = new Map<number, () => void>();
  #last = 0;

  constructor(post: (message: FromBridge) => void) {
    this.#post = post;
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const number = ++this.#last;
      const end = () => {
        this.#waiting.delete(number);
        resolve();
      };
      setTimeout(end, ms); // also when it is hidden: the worker may have died
      if (document.visibilityState === 'visible') return;
      this.#waiting.set(number, end);
      this.#post({ type: 'pause', number, ms });
    });
  }

  /** The worker says that a pause is over. */
  hear(number: number): void {
    this.#waiting.get(number)?.();
  }
}
