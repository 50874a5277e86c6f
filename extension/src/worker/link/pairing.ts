// Where the relay is, and the secret that proves it. pairing.json lies in the unpacked extension folder, written by
// the relay; it is read at every dial, because the port and the secret may change while this worker lives. An
// extension that came without the file keeps what it was given for a one-time string (see below), where no content
// script can read it; without that, it asks the program of this machine (native-host.ts).
import { isText, shape } from '../../shared/guards.ts';
import type { PanelState } from '../../shared/panel-state.ts';
import { type Identity, startGreeting } from './greeting.ts';
import type { Pairing } from './handshake.ts';
import type { Socket, SocketListener } from './link.ts';

const isPairing = shape({ address: isText, secret: isText });
const loopback = /^(127\.0\.0\.1|\[::1\]|localhost):\d{1,5}$/;

/** Reads the text of pairing.json; undefined when it is not one, or names anything but this machine. */
function parsePairing(text: string): Pairing | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isPairing(value) || !loopback.test(value.address) || !/^[0-9a-f]{64}$/.test(value.secret))
    return undefined;
  return { address: value.address, secret: value.secret };
}

/** The pairing in the extension's folder; undefined: there is none, as in an extension from a store. */
export async function readPairingFile(): Promise<Pairing | undefined> {
  try {
    const response = await fetch(chrome.runtime.getURL('pairing.json'), { cache: 'no-store' });
    return parsePairing(await response.text());
  } catch {
    return undefined; // the file is not there (yet)
  }
}

export async function readPairing(ask: () => Promise<Pairing | undefined>): Promise<Pairing | undefined> {
  const file = await readPairingFile();
  if (file !== undefined) return file;
  const { pairing } = await chrome.storage.local.get('pairing');
  const kept = parsePairing(JSON.stringify(pairing) ?? '');
  if (kept !== undefined) return { ...kept, pasted: true };
  return parsePairing(JSON.stringify(await ask()) ?? '');
}

/** Keeps a pairing for an extension without pairing.json; false when it has the file, which counts. */
export async function keepPairing(pairing: Pairing): Promise<boolean> {
  await chrome.storage.local.set({ pairing });
  return (await readPairingFile()) === undefined;
}

// Pairing with a one-time string that a person pastes into the panel: the string proves both sides to each other, once,
// and the relay gives its secret in exchange.

/** A pairing string that was pasted: where the relay is, and the one-time string of 32 hexadecimal digits. */
export interface PairingString {
  address: string;
  code: string;
}

const form = /^((?:127\.0\.0\.1|\[::1\]|localhost):\d{1,5})\/([0-9a-f]{32})$/;
const patienceMs = 5000;

/** Reads what was pasted; undefined when it is no pairing string, or names anything but this machine. */
export function parsePairingString(text: string): PairingString | undefined {
  const [, address, code] = form.exec(text.trim().toLowerCase()) ?? [];
  return address === undefined || code === undefined ? undefined : { address, code };
}

/** Exchanges a string for the secret. It rejects with a sentence for the person, and never tries twice. */
export function exchange(
  identity: Identity,
  { address, code }: PairingString,
  dialSocket: (url: string, listener: SocketListener) => Socket,
): Promise<Pairing> {
  return new Promise((resolve, reject) => {
    let over = false;
    let inSequence = Promise.resolve(); // proofs take time; what arrives meanwhile keeps its place
    let refusal = '';
    const end = (why: string | Pairing) => {
      if (over) return;
      over = true;
      clearTimeout(timer);
      socket.close(4000);
      if (typeof why === 'string') reject(new Error(why));
      else resolve(why);
    };
    const timer = setTimeout(() => end('The relay did not answer in time'), patienceMs);
    const socket = dialSocket(`ws://${address}/extension`, {
      opened: () => greeting.hello(),
      message: (text) => {
        inSequence = inSequence.then(async () => {
          if (over) return;
          const step = await greeting.handleText(text);
          if (step.type === 'refused') refusal = step.message;
          if (step.type === 'failed') end(step.message);
          if (step.type === 'paired') end({ address, secret: step.secret });
        });
      },
      closed: (_code, reason) => {
        inSequence.then(() => end(refusal || reason || `No relay answers at ${address}`));
      },
    });
    const greeting = startGreeting(identity, { address, secret: code }, (text) => socket.send(text), 'pair');
  });
}

// What becomes of a string that was pasted to pair with a relay, for the panel.

interface Steps {
  exchange(text: PairingString): Promise<Pairing>;
  keep(pairing: Pairing): Promise<boolean>; // false: it does not count
  paired(): void;
  changed(): void;
}

const noString = 'That is not a pairing string. Paste the whole line that the command prints';
const needless =
  'This extension was loaded from tabrelay’s folder, which pairs it by itself. Start tabrelay instead';

export class Pairer {
  readonly #steps: Steps;
  state: PanelState['pairing'] = { phase: 'none', message: '' };

  constructor(steps: Steps) {
    this.#steps = steps;
  }

  /** The person pasted something. One attempt at a time; a string is not tried twice. */
  async pairWith(text: string): Promise<void> {
    if (this.state.phase === 'trying') return;
    const pasted = parsePairingString(text);
    if (pasted === undefined) return this.#become('failed', noString);
    this.#become('trying', '');
    try {
      const kept = await this.#steps.keep(await this.#steps.exchange(pasted));
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
