// With which relay this browser is paired, since when, and whether the person has ended that here: then it stays
// unpaired, whatever lies in the extension's folder, until they pair it again.
import { isNumber, isText, shape } from '../../shared/guards.ts';
import type { PanelState } from '../../shared/panel-state.ts';
import type { Pairing } from './handshake.ts';
import { toHex } from './handshake.ts';
import { readPairing } from './pairing.ts';

const endedKey = 'unpaired';
const sinceKey = 'pairedSince';

const isSince = shape({ secretHash: isText, at: isNumber });

async function hash(secret: string): Promise<string> {
  return toHex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret)));
}

/** This machine's program, as far as it matters here. */
interface Program {
  readonly possible: boolean;
  find(): Promise<Pairing | undefined>;
  forget(): void;
}

export class Paired {
  readonly #changed: () => void;
  #pairing: Pairing | undefined; // that was read last
  #reads = 0;
  state: PanelState['paired'] = { since: 0, ended: false, byItself: false };

  readonly #program: Program;

  constructor(changed: () => void, program: Program) {
    this.#changed = changed;
    this.#program = program;
  }

  /** What to dial with; undefined: there is nothing, or the person has ended the pairing. */
  async read(): Promise<Pairing | undefined> {
    const turn = ++this.#reads;
    const { [endedKey]: ended } = await chrome.storage.local.get(endedKey);
    // A browser that the person has unpaired leaves the program alone.
    const ask = ended === true ? async () => undefined : () => this.#program.find();
    const pairing = await readPairing(ask);
    if (pairing?.pasted === true) this.#program.forget();
    const byItself =
      pairing === undefined ? ended === true && this.#program.possible : pairing.pasted !== true;
    const found = ended === true ? undefined : pairing;
    if (turn !== this.#reads) return found; // a later read knows better
    this.#become({ since: ended === true ? 0 : this.state.since, ended: ended === true, byItself });
    this.#pairing = found;
    return found;
  }

  /** The relay has proved the secret: what it is paired with counts from the first time. */
  async proved(): Promise<void> {
    if (this.#pairing === undefined) return;
    const secretHash = await hash(this.#pairing.secret);
    const { [sinceKey]: kept } = await chrome.storage.local.get(sinceKey);
    const known = isSince(kept) && kept.secretHash === secretHash;
    const at = known ? kept.at : Date.now();
    if (!known) await chrome.storage.local.set({ [sinceKey]: { secretHash, at } });
    this.#become({ ...this.state, since: at });
  }

  /** The person ends the pairing, or takes that back. */
  async end(ended: boolean): Promise<void> {
    await chrome.storage.local.set({ [endedKey]: ended });
    if (ended) await chrome.storage.local.remove(['pairing', sinceKey]);
  }

  #become(state: PanelState['paired']): void {
    this.state = state;
    this.#changed();
  }
}
