// The panel's end of the port to the worker. Chrome may stop an idle worker at any time; connecting starts it again.

import { isText, optional, shape } from '../shared/guards.ts';
import { isPanelNews, isPanelResponse, isShow, type PanelRequest } from '../shared/panel-messages.ts';
import { isPanelState, type PanelState } from '../shared/panel-state.ts';
import { whenDisconnected } from '../shared/ports.ts';

/** Why something could not be shown or done, as shown to the person. */
export interface Problem {
  status: number; // of HTTP; 0 when there was no answer
  message: string;
  hint: string | undefined;
  said?: unknown; // the body of the error response
}

/** What the relay answered: the body of a success, or why there is none. */
export type Reply = { ok: true; body: unknown } | { ok: false; problem: Problem };

export type Method = 'GET' | 'PUT' | 'POST' | 'DELETE';

export interface WorkerPortListener {
  state(state: PanelState): void;
  news(topics: readonly string[]): void;
  show(question: string): void; // the person clicked its notification
}

const answerMs = 20_000;
const redialMs = 100;

const isFailure = shape({ error: shape({ message: isText, hint: optional(isText) }) });

interface Waiting {
  resolve(reply: Reply): void;
  timer: ReturnType<typeof setTimeout>;
}

const failed = (status: number, message: string, hint?: string, said?: unknown): Reply => ({
  ok: false,
  problem: { status, message, hint, said },
});

const gone = () =>
  failed(
    0,
    'The extension restarted before there was an answer',
    'Check whether it was done, then try again.',
  );
const silent = () => failed(0, 'There was no answer within 20 seconds', 'Try again in a moment.');

function replyOf(status: number, body: unknown): Reply {
  if (status >= 200 && status < 400) return { ok: true, body };
  if (isFailure(body)) return failed(status, body.error.message, body.error.hint, body);
  return failed(status, `The relay answered ${status} without saying why`);
}

export class WorkerPort {
  #port: chrome.runtime.Port | undefined;
  #sent = 0; // requests
  readonly #waiting = new Map<string, Waiting>();
  readonly #listener: WorkerPortListener;

  constructor(listener: WorkerPortListener) {
    this.#listener = listener;
  }

  open(): void {
    const port = chrome.runtime.connect({ name: 'panel' });
    this.#port = port;
    port.onMessage.addListener((message: unknown) => this.#hear(message));
    whenDisconnected(port, chrome.runtime, () => {
      this.#port = undefined;
      for (const id of [...this.#waiting.keys()]) this.#settle(id, gone());
      setTimeout(() => this.open(), redialMs);
    });
  }

  /** Asks the worker to dial the relay now. */
  retry(): void {
    this.#port?.postMessage({ type: 'retry' });
  }

  /** Has the worker start the relay. */
  start(): void {
    this.#port?.postMessage({ type: 'start' });
  }

  /** Pairs with a relay by the text that the person pasted. */
  pair(text: string): void {
    this.#port?.postMessage({ type: 'pair', text });
  }

  /** Sets whether this browser is paired. */
  paired(on: boolean): void {
    this.#port?.postMessage({ type: 'paired', on });
  }

  /** Renames this profile. */
  name(label: string): void {
    this.#port?.postMessage({ type: 'name', label });
  }

  /** Sets whether tabs are marked while an agent acts in them. */
  marks(on: boolean): void {
    this.#port?.postMessage({ type: 'marks', on });
  }

  /** Sends a request for a path below /api/v1/ to the relay. Never rejects. */
  request(method: Method, path: string, body?: unknown): Promise<Reply> {
    const port = this.#port;
    if (port === undefined) return Promise.resolve(gone());
    const id = String(++this.#sent);
    return new Promise((resolve) => {
      const timer = setTimeout(() => this.#settle(id, silent()), answerMs);
      this.#waiting.set(id, { resolve, timer });
      const request: PanelRequest = { type: 'request', id, method, path: `/api/v1/${path}` };
      port.postMessage(body === undefined ? request : { ...request, body });
    });
  }

  #hear(message: unknown): void {
    if (isPanelResponse(message)) this.#settle(message.id, replyOf(message.status, message.body));
    else if (isPanelNews(message)) this.#listener.news(message.topics);
    else if (isShow(message)) this.#listener.show(message.question);
    else if (isPanelState(message)) this.#listener.state(message);
  }

  #settle(id: string, reply: Reply): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    waiting.resolve(reply);
  }
}
