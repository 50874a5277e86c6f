// When the steps of one call happened, for the outcome of a call whose frame has timed.

import type { OutcomeFrame } from '../../protocol/frames.generated.ts';
import type { Place } from '../../shared/bridge-messages.ts';

export type StepTimes = NonNullable<OutcomeFrame['times']>;
type Step = StepTimes[number]['step'];

const mostTimes = 200;

export class Times {
  readonly #began = performance.now();
  readonly #asked = new Map<string, { us: number; what: string | undefined }>(); // by id
  readonly #list: StepTimes = [];

  /** A step that has just happened here. */
  mark(step: Step): void {
    this.#add(step, this.#now());
  }

  /** A document is being asked under an id; what: the part of the call, where it has several. */
  asked(id: string, what?: string): void {
    const us = this.#now();
    this.#asked.set(id, { us, what });
    this.#add('asked', us, what);
  }

  /** Its answer has come. How long it took each way is not known: the document's own times go in the middle. */
  answered(id: string, place: Place | undefined): void {
    const asked = this.#asked.get(id);
    if (!this.#asked.delete(id) || asked === undefined) return;
    const us = this.#now();
    if (place?.times !== undefined) {
      const { startUs, endUs } = place.times;
      const heard = asked.us + Math.max(0, us - asked.us - endUs) / 2;
      this.#add('started', Math.min(us, heard + startUs));
      this.#add('ended', Math.min(us, heard + endUs));
    }
    this.#add('answered', us, asked.what);
  }

  /** The list that goes out with the outcome. */
  sent(): StepTimes {
    this.mark('sent');
    return this.#list.sort((a, b) => a.us - b.us);
  }

  #now(): number {
    return (performance.now() - this.#began) * 1000;
  }

  #add(step: Step, us: number, what?: string): void {
    if (this.#list.length >= mostTimes - 1 && step !== 'sent') return;
    this.#list.push({ step, us: Math.max(0, Math.round(us)), ...(what !== undefined && { what }) });
  }
}
