// Sends the requests that a main-world adapter may not send itself. Same origin only: with the page's cookies and
// Origin it can do what the page could do, were it not for connect-src.
import type { Answer, Wish } from '../page/outside.ts';

const maxBytes = 16 << 20;

export class Sender {
  readonly #open = new Map<number, AbortController>();
  readonly #answer: (answer: Answer) => void;

  constructor(answer: (answer: Answer) => void) {
    this.#answer = answer;
  }

  send(wish: Wish): void {
    const { number } = wish;
    const controller = new AbortController();
    this.#open.set(number, controller);
    perform(wish, controller.signal)
      .catch((why: unknown): Answer => ({ number, failed: why instanceof Error ? why.message : String(why) }))
      .then((answer) => {
        if (this.#open.delete(number)) this.#answer(answer);
      });
  }

  withdraw(number: number): void {
    this.#open.get(number)?.abort();
    this.#open.delete(number);
  }
}

async function perform(wish: Wish, signal: AbortSignal): Promise<Answer> {
  const { number, method, redirect } = wish;
  const target = new URL(wish.url);
  if (target.origin !== location.origin)
    return { number, failed: "Only requests to the page's own origin go this way" };
  const headers = wish.headers.flatMap(([name, value]): [string, string][] =>
    name === undefined || value === undefined ? [] : [[name, value]],
  );
  const init: RequestInit = { method, redirect, headers, signal, credentials: 'include' };
  const response = await fetch(target, wish.body === undefined ? init : { ...init, body: wish.body });
  const body = await response.arrayBuffer();
  if (body.byteLength > maxBytes) return { number, failed: `The answer has more than ${maxBytes} bytes` };
  const { url, status, statusText, redirected } = response;
  return { number, url, status, statusText, redirected, headers: Array.from(response.headers), body };
}
