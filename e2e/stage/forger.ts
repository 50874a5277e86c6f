// A client of the relay's WebSocket written from the specification alone: it can say every part of the handshake
// right, and any part of it wrong.

import { createHash, createHmac, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import WebSocket from 'ws';
import { z } from 'zod';
import type { Relay } from './relay.ts';

const Pairing = z.object({ address: z.string(), secret: z.string() });
const Frame = z.looseObject({ type: z.string() });

/** What the forger says other than the truth. */
export interface Lies {
  /** Request headers; undefined leaves one out. */
  headers?: Record<string, string | undefined>;
  subprotocols?: string[];
  protocol?: { min: number; max: number };
  /** Replaces the proof of knowing the secret. */
  proof?: (right: string) => string;
}

/** How far the forger came. */
export interface Reception {
  /** HTTP status of the upgrade: 101 when it was let in. */
  status: number;
  /** Types of the frames the relay sent. */
  frames: string[];
  /** The `refuse` frame, if there was one. */
  refusal: { code: string; message: string } | undefined;
  /** WebSocket close code; undefined when the relay welcomed it. */
  closed: number | undefined;
  /** The proof it sent. */
  proof: string;
}

export class Forger {
  readonly #address: string;
  readonly #secret: string;
  readonly #extensionId: string;

  constructor(address: string, secret: string, extensionId: string) {
    this.#address = address;
    this.#secret = secret;
    this.#extensionId = extensionId;
  }

  /** The Origin that is right. */
  get origin(): string {
    return `chrome-extension://${this.#extensionId}`;
  }

  /** Dials, and returns when the relay has welcomed or turned away. */
  dial(lies: Lies = {}): Promise<Reception> {
    const headers = Object.entries({ origin: this.origin, ...lies.headers });
    const socket = new WebSocket(`ws://${this.#address}/extension`, lies.subprotocols ?? ['tabrelay.v1'], {
      headers: Object.fromEntries(headers.filter(([, value]) => value !== undefined)),
    });
    const reception: Reception = {
      status: 101,
      frames: [],
      refusal: undefined,
      closed: undefined,
      proof: '',
    };
    const hello = this.#hello(lies);
    return new Promise((resolve, reject) => {
      socket.on('unexpected-response', (_, response) => {
        socket.terminate();
        resolve({ ...reception, status: response.statusCode ?? 0 });
      });
      socket.on('error', reject);
      socket.on('open', () => socket.send(hello.text));
      socket.on('close', (code) => resolve({ ...reception, closed: code }));
      socket.on('message', (data) => {
        const text = String(data);
        const frame = Frame.parse(JSON.parse(text));
        reception.frames.push(frame.type);
        if (frame.type === 'relay') {
          const right = this.#prove(hello, text, String(frame.nonce), Number(frame.protocol));
          reception.proof = lies.proof?.(right) ?? right;
          socket.send(JSON.stringify({ type: 'proof', proof: reception.proof }));
        }
        if (frame.type === 'refuse')
          reception.refusal = { code: String(frame.code), message: String(frame.message) };
        if (frame.type === 'welcome') {
          socket.removeAllListeners('close');
          socket.close();
          resolve(reception);
        }
      });
    });
  }

  #hello(lies: Lies) {
    const profile = randomBytes(16).toString('hex');
    const nonce = randomBytes(32).toString('hex');
    const text = JSON.stringify({
      type: 'hello',
      protocol: lies.protocol ?? { min: 1, max: 1 },
      extension: '0.1.0',
      bundle: 'forged',
      epoch: randomBytes(16).toString('hex'),
      profile: { id: profile, label: 'Forger' },
      chrome: '156.0.0.0',
      nonce,
    });
    return { text, profile, nonce };
  }

  #prove(
    hello: { text: string; profile: string; nonce: string },
    relay: string,
    nonce: string,
    protocol: number,
  ) {
    const hellos = createHash('sha256').update(`${hello.text}\n${relay}`).digest('hex');
    const said = [
      'tabrelay.v1',
      'extension',
      protocol,
      this.#address,
      this.#extensionId,
      hello.profile,
      hello.nonce,
      nonce,
    ];
    return createHmac('sha256', Buffer.from(this.#secret, 'hex'))
      .update([...said, hellos].join('\n'))
      .digest('hex');
  }
}

export async function openForger(relay: Relay, extensionId: string): Promise<Forger> {
  const pairing = Pairing.parse(
    JSON.parse(await readFile(path.join(relay.extension, 'pairing.json'), 'utf8')),
  );
  return new Forger(pairing.address, pairing.secret, extensionId);
}
