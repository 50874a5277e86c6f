// The handshake of one connection: hello, the relay's hello and proof, our proof, welcome.
import { randomHex } from '../util/random.ts';
import { type FrameOf, frameText, readFrame } from './frames.ts';
import { type Pairing, type ProofParts, prove, unseal, verify } from './handshake.ts';

/** Who dials. */
export interface Identity {
  extension: string;
  extensionId: string;
  bundle: string;
  epoch: string;
  profile: { id: string; label: string };
  chrome: string;
  /** A policy of the browser installed the extension. */
  managed?: true;
}

/** The protocol versions this extension speaks; PROTOCOL.md says what each added. */
const speaks = { min: 1, max: 3 } as const;

type Step =
  | { type: 'going' }
  | { type: 'refused'; message: string } // by the relay, which closes next
  | { type: 'failed'; message: string } // the relay could not prove itself, or speaks another protocol
  | { type: 'paired'; secret: string } // in exchange for a one-time string
  | { type: 'welcome'; frame: FrameOf<'welcome'>; relay: string; protocol: number };

export interface Greeting {
  hello(): void;
  handleText(text: string): Promise<Step>;
}

const going: Step = { type: 'going' };

/** What a greeting is for: a connection, or the secret for one, in exchange for a one-time string. */
const purposes = {
  connect: { relay: 'relay', extension: 'extension', hello: { protocol: speaks } },
  pair: {
    relay: 'pairing relay',
    extension: 'pairing extension',
    hello: { protocol: { min: 2, max: speaks.max }, pair: true },
  },
} as const;

/** Begins a greeting. To pair, pairing.secret is the one-time string. */
export function startGreeting(
  identity: Identity,
  pairing: Pairing,
  send: (text: string) => void,
  purpose: keyof typeof purposes = 'connect',
): Greeting {
  const { extensionId, ...about } = identity;
  const roles = purposes[purpose];
  const nonce = randomHex(32);
  const { protocol, ...asks } = { ...roles.hello };
  const hello = frameText({ type: 'hello', protocol, ...about, nonce, ...asks });
  let parts: ProofParts | undefined;
  let version = '';
  let proven = false;

  return {
    hello: () => send(hello),
    async handleText(text) {
      const frame = readFrame(text)?.frame;
      if (frame === undefined) return going;
      if (frame.type === 'refuse') return { type: 'refused', message: frame.message };
      if (frame.type === 'relay') {
        if (frame.protocol < speaks.min || frame.protocol > speaks.max) {
          return {
            type: 'failed',
            message: `The relay speaks protocol ${frame.protocol}, this extension ${speaks.min} to ${speaks.max}`,
          };
        }
        version = frame.relay;
        parts = {
          protocol: frame.protocol,
          address: pairing.address,
          extensionId,
          profileId: identity.profile.id,
          extensionNonce: nonce,
          relayNonce: frame.nonce,
          hello,
          relay: text,
        };
        return going;
      }
      if (frame.type === 'proof' && parts !== undefined) {
        if (!(await verify(pairing.secret, parts, frame.proof, roles.relay))) {
          return {
            type: 'failed',
            message:
              `The program at ${pairing.address} could not prove ` +
              'that it is the relay this extension is paired with',
          };
        }
        proven = true;
        send(frameText({ type: 'proof', proof: await prove(pairing.secret, parts, roles.extension) }));
        return going;
      }
      if (frame.type === 'paired' && purpose === 'pair' && parts !== undefined && proven)
        return { type: 'paired', secret: await unseal(pairing.secret, parts, frame.secret) };
      if (frame.type !== 'welcome' || parts === undefined || !proven) return going;
      return { type: 'welcome', frame, relay: version, protocol: parts.protocol };
    },
  };
}
