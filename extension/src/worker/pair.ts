// Pairing with a one-time string that a person pastes into the panel: the string proves both sides to each other, once,
// and the relay gives its secret in exchange.
import { type Identity, startGreeting } from './greeting.ts';
import type { Socket, SocketListener } from './link.ts';
import type { Pairing } from './pairing.ts';

/** What was pasted: where the relay is, and the one-time string of 32 hexadecimal digits. */
export interface Offer {
  address: string;
  code: string;
}

const form = /^((?:127\.0\.0\.1|\[::1\]|localhost):\d{1,5})\/([0-9a-f]{32})$/;
const patienceMs = 5000;

/** Reads what was pasted; undefined when it is no pairing string, or names anything but this machine. */
export function parseOffer(text: string): Offer | undefined {
  const [, address, code] = form.exec(text.trim().toLowerCase()) ?? [];
  return address === undefined || code === undefined ? undefined : { address, code };
}

/** Exchanges a string for the secret. It rejects with a sentence for the person, and never tries twice. */
export function exchange(
  identity: Identity,
  { address, code }: Offer,
  dialSocket: (url: string, listener: SocketListener) => Socket,
): Promise<Pairing> {
  return new Promise((resolve, reject) => {
    let over = false;
    let order = Promise.resolve(); // proofs take time; what arrives meanwhile keeps its place
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
        order = order.then(async () => {
          if (over) return;
          const step = await greeting.hear(text);
          if (step.type === 'refused') refusal = step.message;
          if (step.type === 'failed') end(step.message);
          if (step.type === 'paired') end({ address, secret: step.secret });
        });
      },
      closed: (_code, reason) => {
        order.then(() => end(refusal || reason || `No relay answers at ${address}`));
      },
    });
    const greeting = startGreeting(identity, { address, secret: code }, (text) => socket.send(text), 'pair');
  });
}
