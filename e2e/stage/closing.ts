// What a test opened is closed in the opposite order, all of it, even when closing one thing fails.

export class Closing {
  readonly #steps: (() => Promise<unknown>)[] = [];

  /** Adds a step to take when everything is closed. */
  defer(step: () => Promise<unknown>): void {
    this.#steps.push(step);
  }

  async close(): Promise<void> {
    const failures: unknown[] = [];
    for (let step = this.#steps.pop(); step; step = this.#steps.pop()) {
      await step().catch((failure: unknown) => failures.push(failure));
    }
    if (failures.length > 0) throw new AggregateError(failures, 'closing failed');
  }
}
