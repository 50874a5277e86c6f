// What the side panel (and the worker for it) asks of the relay, over the one link there is.

import { isRecord } from '../../shared/guards.ts';
import { randomHex } from '../util/random.ts';
import { type FrameOf, frameText } from './frames.ts';

/** How a request ended: what the relay answered, or, in the same form, why there is no answer. */
export interface Answer {
  status: number; // as in HTTP; 0 when the relay was not reached
  body: unknown; // a JSON value; null when there is none
}

interface Connection {
  readonly protocol: number; // the version spoken; 0 while there is no connection
  sendText(text: string): boolean;
}

/** The protocol version that has requests, news and names of profiles. */
export const withPanel = 2;
const requestLimit = 1 << 20; // of a body, in bytes
const pathLimit = 2048;
const patienceMs = 15_000; // the relay answers within 10 s
const atOnce = 64; // the relay works on 16 of them

const sorry = (status: number, code: string, message: string, hint: string): Answer => ({
  status,
  body: { error: { code, message, hint } },
});

const utf8 = new TextEncoder();

export class Requests {
  readonly #open = new Map<string, (answer: Answer) => void>();
  readonly #link: Connection;

  constructor(link: Connection) {
    this.#link = link;
  }

  /** Asks the relay. It always resolves, with a failure when the relay cannot be reached. */
  ask(method: string, path: string, body?: unknown): Promise<Answer> {
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const refused = this.#refused(method, path, payload);
    if (refused !== undefined) return Promise.resolve(refused);
    const id = randomHex(16);
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        this.#end(
          id,
          sorry(
            504,
            'TIMEOUT',
            'The relay did not answer in time',
            'Check whether it was done, then try again.',
          ),
        );
      }, patienceMs);
      this.#open.set(id, (answer) => {
        clearTimeout(timer);
        resolve(answer);
      });
      if (!this.#link.sendText(frameText({ type: 'request', id, method, path }, payload)))
        this.#end(id, notConnected());
    });
  }

  /** Takes the relay's answer. */
  handleResponse({ id, status }: FrameOf<'response'>, payload: string): void {
    if (this.#open.has(id)) this.#end(id, { status, body: parsed(payload) });
  }

  /** The connection is gone, and with it every answer that was on its way. */
  lost(): void {
    for (const id of [...this.#open.keys()]) {
      this.#end(
        id,
        sorry(
          0,
          'EXTENSION_LOST',
          'The link to the relay was lost before the answer came',
          'It reconnects by itself; check whether it was done, then try again.',
        ),
      );
    }
  }

  #refused(method: string, path: string, payload: string | undefined): Answer | undefined {
    const { protocol } = this.#link;
    if (protocol === 0) return notConnected();
    if (protocol < withPanel)
      return sorry(
        501,
        'VERSION_MISMATCH',
        'The relay is too old for this panel',
        'Update the tabrelay program.',
      );
    if (!/^[A-Z]{1,16}$/.test(method) || !path.startsWith('/') || path.length > pathLimit)
      return sorry(400, 'INVALID_REQUEST', 'The request is not one the relay takes', 'Shorten its path.');
    if (payload !== undefined && utf8.encode(payload).length > requestLimit)
      return sorry(413, 'INPUT_TOO_LARGE', `The request is larger than ${requestLimit} bytes`, 'Send less.');
    if (this.#open.size >= atOnce)
      return sorry(429, 'OVERLOADED', 'Too many requests are under way', 'Wait for their answers.');
    return undefined;
  }

  #end(id: string, answer: Answer): void {
    const resolve = this.#open.get(id);
    this.#open.delete(id);
    resolve?.(answer);
  }
}

function notConnected(): Answer {
  return sorry(0, 'EXTENSION_LOST', 'The relay is not connected', 'Once it is, try again.');
}

function parsed(payload: string): unknown {
  if (payload === '') return null;
  try {
    return JSON.parse(payload);
  } catch {
    return null; // the relay sends JSON or nothing
  }
}

/** The message of a failure, or undefined when the answer is none. */
export function failureOf({ status, body }: Answer): string | undefined {
  if (status >= 200 && status < 300) return undefined;
  const error = isRecord(body) && isRecord(body.error) ? body.error : {};
  return typeof error.message === 'string' ? error.message : `The relay answered with status ${status}`;
}
