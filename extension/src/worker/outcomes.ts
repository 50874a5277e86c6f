// Outcomes the relay has not acknowledged. Each is sent again after every welcome; the relay takes the first.
import type { Bridge } from './bridges.ts';
import type { Records } from './records.ts';

export class Outcomes {
  readonly #frames = new Map<string, { text: string; bridge: Bridge | undefined }>();
  readonly #records: Records;
  readonly #send: (text: string) => boolean;

  constructor(records: Records, send: (text: string) => boolean) {
    this.#records = records;
    this.#send = send;
  }

  /** Sends an outcome, and keeps it until it is acknowledged: here, and in the session store when it was a write. */
  add(id: string, text: string, bridge: Bridge | undefined): void {
    this.#frames.set(id, { text, bridge });
    this.#records.keep(id, text);
    this.#send(text);
  }

  get(id: string): string | undefined {
    return this.#frames.get(id)?.text ?? this.#records.get(id)?.outcome;
  }

  acknowledge(ids: readonly string[]): void {
    for (const id of ids) {
      this.#frames.get(id)?.bridge?.acknowledge(id);
      this.#frames.delete(id);
    }
    this.#records.forget(ids);
  }

  sendAgain(): void {
    for (const { text } of this.#frames.values()) this.#send(text);
    for (const [id, text] of this.#records.outcomes()) if (!this.#frames.has(id)) this.#send(text);
  }
}
