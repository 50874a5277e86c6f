// The one WebSocket to the relay: dials, does the handshake, and dials again whenever the connection is lost. Events
// of an older socket are ignored after a newer dial (generation).
import type { FromExtension, FromRelay } from '../../protocol/frames.generated.ts';
import { elapsedMs } from '../util/clock.ts';
import { type FrameOf, frameText, readFrame } from './frames.ts';
import { type Greeting, type Identity, startGreeting } from './greeting.ts';
import type { Pairing } from './handshake.ts';

export interface LinkState {
  phase: 'unpaired' | 'connecting' | 'connected' | 'waiting' | 'stopped';
  address: string;
  message: string; // why it is not connected, or the relay's version when it is
  since: number;
}

/** Provides what each dial needs: the identity of this browser, and its pairing. */
export interface LinkSource {
  identity(): Promise<Identity>;
  pairing(): Promise<Pairing | undefined>;
  freshProfile(): Promise<unknown>; // another connected browser has our profile id
}

export interface LinkListener {
  opened(welcome: FrameOf<'welcome'>): void;
  frame(frame: FromRelay, payload: string): void;
  changed(state: LinkState): void;
}

/** One connection being made or made. */
export interface Socket {
  send(text: string): void;
  close(code: number): void;
}

export interface SocketListener {
  opened(): void;
  message(text: string): void;
  closed(code: number, reason: string): void;
}

const closeCodes = { pairing: 4401, version: 4406, replaced: 4409, duplicateProfile: 4410 } as const;
const greetingMs = 5000;
const pongMs = 10_000;
const probeMs = 60_000;
const minDelayMs = 500;
const eagerMs = 1000; // between attempts while a relay may be starting again, and calls wait for this browser
const eagerAttempts = 30;
const maxDelayMs = 30_000;

export class Link {
  #generation = 0;
  #socket: Socket | undefined;
  #open = false;
  #protocol = 0;
  #pasted = false;
  #attempts = 0; // since the last welcome
  #retry: ReturnType<typeof setTimeout> | undefined;
  #keepalive: ReturnType<typeof setInterval> | undefined;
  #heard = 0;
  #refusal = ''; // what the relay said before it closed
  #stopped: { pairing: string } | undefined; // not to dial with this pairing again
  readonly #dialSocket: (url: string, listener: SocketListener) => Socket;
  readonly #source: LinkSource;
  #listener: LinkListener | undefined;
  state: LinkState = { phase: 'connecting', address: '', message: '', since: Date.now() };

  constructor(source: LinkSource, dialSocket: (url: string, listener: SocketListener) => Socket) {
    this.#source = source;
    this.#dialSocket = dialSocket;
  }

  /** Sets who hears of the link; once, before the first dial. */
  listen(listener: LinkListener): void {
    this.#listener = listener;
  }

  get connected(): boolean {
    return this.#open;
  }

  /** The protocol version spoken; 0 while there is no connection. */
  get protocol(): number {
    return this.#open ? this.#protocol : 0;
  }

  /** Dials now unless a connection stands or is being made. forced also dials after the relay refused us. */
  dial(forced = false): void {
    if (this.#socket !== undefined) return;
    if (forced) this.#stopped = undefined;
    clearTimeout(this.#retry);
    this.#attempt(++this.#generation).catch((problem: unknown) => {
      this.#socket = undefined;
      this.#wait(`The connection could not be made: ${String(problem)}`);
    });
  }

  /** Dials anew, with whatever pairing there is now. */
  redial(): void {
    const socket = this.#socket;
    this.#generation++;
    this.#lost();
    socket?.close(4000);
    this.dial(true);
  }

  /** Sends a frame; false when there is no connection. */
  send(header: FromExtension): boolean {
    return this.sendText(frameText(header));
  }

  sendText(text: string): boolean {
    if (!this.#open) return false;
    this.#socket?.send(text);
    return true;
  }

  async #attempt(generation: number): Promise<void> {
    const pairing = await this.#source.pairing();
    if (generation !== this.#generation) return;
    if (pairing === undefined) {
      this.#become('unpaired', '', 'The extension folder has no pairing.json from a relay on this machine');
      this.#attempts++; // else it would be looked for without a pause
      return this.#again(this.#delay());
    }
    this.#pasted = pairing.pasted === true;
    const fingerprint = JSON.stringify(pairing);
    if (this.#stopped?.pairing === fingerprint) return this.#again(probeMs);
    const identity = await this.#source.identity();
    if (generation !== this.#generation) return;
    this.#become('connecting', pairing.address, '');
    this.#attempts++;
    this.#refusal = '';
    this.#converse(generation, pairing, identity);
  }

  #converse(generation: number, pairing: Pairing, identity: Identity): void {
    const current = () => generation === this.#generation;
    const limit = setTimeout(() => {
      if (current() && !this.#open) this.#drop('The relay did not finish the handshake in time');
    }, greetingMs);
    let inSequence = Promise.resolve();
    const socket = this.#dialSocket(`ws://${pairing.address}/extension`, {
      opened: () => greeting.hello(),
      message: (text) => {
        if (!current()) return;
        this.#heard = elapsedMs();
        if (this.#open) return this.#read(text);
        // Proofs are computed asynchronously; later messages are handled after them, in order.
        inSequence = inSequence.then(() => {
          if (current()) return this.#open ? this.#read(text) : this.#greet(greeting, text, pairing);
        });
      },
      closed: (code, reason) => {
        clearTimeout(limit);
        if (current()) this.#closed(code, reason, JSON.stringify(pairing));
      },
    });
    const greeting = startGreeting(identity, pairing, (text) => socket.send(text));
    this.#socket = socket;
  }

  async #greet(greeting: Greeting, text: string, pairing: Pairing): Promise<void> {
    const step = await greeting.handleText(text);
    if (step.type === 'refused') this.#refusal = step.message;
    if (step.type === 'failed') {
      this.#drop(step.message);
      this.#stop(JSON.stringify(pairing), step.message);
    }
    if (step.type !== 'welcome') return;
    this.#open = true;
    this.#protocol = step.protocol;
    this.#attempts = 0;
    this.#become('connected', pairing.address, step.relay);
    this.#keepAlive(step.frame.pingMs);
    this.#listener?.opened(step.frame);
  }

  #read(text: string): void {
    const read = readFrame(text);
    if (read === undefined || read.frame.type === 'pong') return;
    if (read.frame.type === 'ping') this.send({ type: 'pong' });
    else this.#listener?.frame(read.frame, read.payload);
  }

  // A message every 20 s also keeps the worker alive (Chrome 116 and later).
  #keepAlive(pingMs: number): void {
    clearInterval(this.#keepalive);
    this.#keepalive = setInterval(() => {
      const asked = elapsedMs();
      const generation = this.#generation;
      this.send({ type: 'ping' });
      setTimeout(() => {
        if (generation === this.#generation && this.#open && this.#heard < asked)
          this.#drop('The relay is silent');
      }, pongMs);
    }, pingMs);
  }

  // Closes the connection without waiting for its close event, which may take minutes on a dead network.
  #drop(why: string): void {
    const socket = this.#socket;
    this.#generation++;
    this.#lost();
    socket?.close(4000);
    this.#wait(why);
  }

  #lost(): void {
    clearInterval(this.#keepalive);
    this.#socket = undefined;
    this.#open = false;
  }

  #closed(code: number, reason: string, pairing: string): void {
    const why = this.#refusal || reason || `The relay is not reachable (close code ${code})`;
    this.#generation++;
    this.#lost();
    switch (code) {
      case closeCodes.pairing:
        this.#stop(pairing, why);
        return;
      case closeCodes.version:
        this.#stop(pairing, why, 'stopped');
        return;
      case closeCodes.replaced:
        this.#become('stopped', this.state.address, 'Another connection of this profile took over');
        return;
      case closeCodes.duplicateProfile:
        this.#source.freshProfile().then(() => this.#again(0));
        this.#become('waiting', this.state.address, 'Another browser uses this profile id; taking a new one');
        return;
      default:
        this.#wait(why);
        return;
    }
  }

  // Not again with this pairing; looked at every minute, in case the relay wrote another.
  // What was pasted can be pasted anew, and only that helps.
  #stop(
    pairing: string,
    why: string,
    phase: LinkState['phase'] = this.#pasted ? 'unpaired' : 'stopped',
  ): void {
    this.#stopped = { pairing };
    this.#become(phase, this.state.address, why);
    this.#again(probeMs);
  }

  #wait(why: string): void {
    this.#become('waiting', this.state.address, why);
    this.#again(this.#delay());
  }

  // The first attempt after a connection is at once, then every second at the least for half a minute, then ever more
  // rarely, up to 30 s, with jitter.
  #delay(): number {
    if (this.#attempts === 0) return 0;
    const eager = Math.min(eagerMs, minDelayMs * 2 ** (this.#attempts - 1));
    const full =
      this.#attempts <= eagerAttempts
        ? eager
        : Math.min(maxDelayMs, eagerMs * 2 ** (this.#attempts - eagerAttempts));
    return full * (0.5 + Math.random() / 2);
  }

  #again(delayMs: number): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.dial(), delayMs);
  }

  #become(phase: LinkState['phase'], address: string, message: string): void {
    this.state = { phase, address, message, since: Date.now() };
    this.#listener?.changed(this.state);
  }
}

// The real WebSocket to the relay.

/** Dials the relay. */
export function dialSocket(url: string, listener: SocketListener): Socket {
  const socket = new WebSocket(url, 'tabrelay.v1');
  socket.onopen = () => listener.opened();
  socket.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (typeof data === 'string') listener.message(data);
  };
  socket.onclose = ({ code, reason }) => listener.closed(code, reason);
  return socket;
}
