// With which relay this browser is paired, since when, and whether the person has ended that here: then it stays
// unpaired, whatever lies in the extension's folder, until they pair it again.
import { type Guarded, isNumber, isText, optional, shape } from '../../shared/guards.ts';
import type { PanelState } from '../../shared/panel-state.ts';
import type { Pairing } from './handshake.ts';
import { toHex } from './handshake.ts';
import { readPairing } from './pairing.ts';

const endedKey = 'unpaired';
const sinceKey = 'pairedSince';

const isKnown = shape({ secretHash: isText, at: isNumber, command: optional(isText) });

/** A command that a person can be shown to paste: one line, in which nothing is hidden. */
const pasteable = /^[^\p{C}\p{Zl}\p{Zp}]*$/u;

async function hash(secret: string): Promise<string> {
  return toHex(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(secret)));
}

/** What is kept of the relay of a pairing, from a connection before. */
async function knownOf({ secret }: Pairing): Promise<Guarded<typeof isKnown> | undefined> {
  const { [sinceKey]: kept } = await chrome.storage.local.get(sinceKey);
  return isKnown(kept) && kept.secretHash === (await hash(secret)) ? kept : undefined;
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
  readonly #program: Program;
  state: PanelState['paired'] = { since: 0, ended: false, byItself: false };

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
    const command = found && (await knownOf(found))?.command;
    if (turn !== this.#reads) return found; // a later read knows better
    this.#become({ since: ended === true ? 0 : this.state.since, ended: ended === true, byItself, command });
    this.#pairing = found;
    return found;
  }

  /**
   * The relay has proved the secret, and says how the person calls its program (older ones do not). What it is paired
   * with counts from the first time; the command is kept for when the relay is away.
   */
  async proved(told: string | undefined): Promise<void> {
    if (this.#pairing === undefined) return;
    const command = told !== undefined && pasteable.test(told) ? told : undefined;
    const known = await knownOf(this.#pairing);
    const at = known?.at ?? Date.now();
    if (known === undefined || known.command !== command)
      await chrome.storage.local.set({
        [sinceKey]: { secretHash: await hash(this.#pairing.secret), at, command },
      });
    this.#become({ ...this.state, since: at, command });
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
