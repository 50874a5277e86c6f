// What becomes of a string that was pasted to pair with a relay, for the panel.
import { isText } from '../page/guards.ts';
import type { PanelState } from '../panel/state.ts';
import type { Offer } from './pair.ts';
import { parseOffer } from './pair.ts';
import type { Pairing } from './pairing.ts';

interface Steps {
  exchange(offer: Offer): Promise<Pairing>;
  keep(pairing: Pairing): Promise<boolean>; // false: it does not count
  paired(): void;
  changed(): void;
}

const noString = 'That is not a pairing string. Run “tabrelay pair” and paste the whole line it prints';
const needless =
  'This extension was loaded from a folder of tabrelay, whose pairing.json counts. Run “tabrelay up” instead';

export class Pairer {
  readonly #steps: Steps;
  state: PanelState['pairing'] = { phase: 'none', message: '' };

  constructor(steps: Steps) {
    this.#steps = steps;
  }

  /** The person pasted something. One attempt at a time; a string is not tried twice. */
  async take(text: string): Promise<void> {
    if (this.state.phase === 'trying') return;
    const offer = parseOffer(text);
    if (offer === undefined) return this.#become('failed', noString);
    this.#become('trying', '');
    try {
      const kept = await this.#steps.keep(await this.#steps.exchange(offer));
      if (!kept) return this.#become('failed', needless);
      this.#become('done', '');
      this.#steps.paired();
    } catch (why) {
      const message: unknown = why instanceof Error ? why.message : why;
      this.#become('failed', isText(message) ? message : 'The string could not be exchanged');
    }
  }

  #become(phase: PanelState['pairing']['phase'], message: string): void {
    this.state = { phase, message };
    this.#steps.changed();
  }
}
