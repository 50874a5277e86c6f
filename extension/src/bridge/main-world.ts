// The adapters in the main world of this document, each behind its own MessagePort.
import {
  adapterEvent,
  bridgeEvent,
  type FromAdapter,
  isFromAdapter,
  type ToAdapter,
} from '../page/channel.ts';
import type { OutsideAnswer, OutsideRequest } from '../page/outside.ts';
import type { Observer } from '../page/reporting.ts';
import type { Run } from '../page/runtime.ts';
import type { Uncaught } from '../page/uncaught.ts';
import type { CallOrder } from '../shared/order.ts';

/** One adapter in the main world. */
export interface MainAdapter {
  name: string;
  hash: string;
  live: boolean; // not once it was unloaded
  late: boolean; // injected after scripts of the page ran, so the page may have seen what passes here
  start(order: CallOrder, observer: Observer): Run;
  unload(): void; // its plugin was removed, disabled or updated; its open calls go on
}

export function listenTo(
  port: MessagePort,
  late: boolean,
  ready: (adapter: MainAdapter) => void,
  uncaught: (plugin: string, error: Uncaught) => void,
): void {
  let plugin = '';
  const observers = new Map<string, Observer>();
  const post = (message: ToAdapter) => port.postMessage(message);
  const sender = new Sender((answer) => post({ type: 'fetched', answer }));
  const hear = (message: FromAdapter) => {
    if (message.type === 'ready') {
      plugin = message.name;
      const adapter: MainAdapter = {
        name: message.name,
        hash: message.hash,
        live: true,
        late,
        start,
        unload() {
          adapter.live = false;
          post({ type: 'unload' });
        },
      };
      ready(adapter);
      return;
    }
    if (message.type === 'uncaught') return uncaught(plugin, message.error);
    if (message.type === 'fetch') return sender.send(message.request);
    if (message.type === 'unfetch') return sender.withdraw(message.number);
    const observer = observers.get(message.id);
    if (observer === undefined) return;
    switch (message.type) {
      case 'waiting':
        return observer.waiting();
      case 'started':
        return observer.started();
      case 'progress':
        return observer.progress(message.step);
      case 'log':
        return observer.log(message.line);
      case 'ended':
        return observer.ended(message.ending);
      case 'late':
        observers.delete(message.id);
        return observer.late(message.ending);
    }
  };

  function start(order: CallOrder, observer: Observer): Run {
    observers.set(order.id, {
      ...observer,
      ended: (ending) => {
        // A handler that outlives its call still reports its own end.
        if (ending.status !== 'refused' || !ending.started) observers.delete(order.id);
        observer.ended(ending);
      },
    });
    post({ type: 'run', order });
    return {
      abort: (reason) => post({ type: 'abort', id: order.id, reason }),
      progressFromConsole: (message) => post({ type: 'sign', id: order.id, message }),
    };
  }

  port.addEventListener('message', (event: MessageEvent<unknown>) => {
    if (isFromAdapter(event.data)) hear(event.data);
  });
  port.start();
}

const bringsScript = (node: Node): boolean =>
  node instanceof Element && (node.localName === 'script' || node.querySelector('script') !== null);

/**
 * Takes ports of main-world adapters, by default only in the task in which this document began: later a page could
 * offer a port of its own. expectLate opens the way once more, for an adapter the worker injects on demand.
 */
export function watchMainWorld(
  bridgeLate: boolean,
  ready: (adapter: MainAdapter) => void,
  uncaught: (plugin: string, error: Uncaught) => void,
): {
  get(plugin: string): MainAdapter | undefined;
  live(): MainAdapter[];
  unload(plugin: string, hash: string): void;
  retireAll(): void;
  expectLate(plugin: string): void;
} {
  const adapters = new Map<string, MainAdapter>();
  const expected = new Set<string>();
  let early = !bridgeLate;

  // Scripts of the page can run before the message below arrives, but none runs that the parser has not brought.
  const parser = new MutationObserver((changes) => look(changes));
  const look = (changes: readonly MutationRecord[]) => {
    if (changes.some(({ addedNodes }) => Array.from(addedNodes).some(bringsScript))) end();
  };
  const end = () => {
    early = false;
    parser.disconnect();
  };
  if (early) parser.observe(document, { childList: true, subtree: true });

  document.addEventListener(adapterEvent, (event) => {
    if (early) look(parser.takeRecords());
    if (!(event instanceof MessageEvent) || !(early || expected.size > 0)) return;
    const port = event.ports[0];
    if (port === undefined) return;
    event.preventDefault();
    const late = !early;
    const take = (adapter: MainAdapter) => {
      // The first wins at document_start; on demand only the plugin that was injected may come in.
      if (late ? !expected.delete(adapter.name) : adapters.has(adapter.name)) return;
      adapters.get(adapter.name)?.unload();
      adapters.set(adapter.name, adapter);
      ready(adapter);
    };
    listenTo(port, late, take, uncaught);
  });

  if (early) {
    // Timers of hidden pages are slow; a message is not.
    const turn = new MessageChannel();
    turn.port1.onmessage = () => {
      end();
      turn.port1.close();
    };
    turn.port2.postMessage(undefined);
    document.dispatchEvent(new Event(bridgeEvent));
  }

  return {
    get: (plugin) => adapters.get(plugin),
    live: () => Array.from(adapters.values()).filter(({ live }) => live),
    unload(plugin, hash) {
      const adapter = adapters.get(plugin);
      if (adapter?.hash === hash) adapter.unload();
    },
    retireAll() {
      for (const adapter of adapters.values()) adapter.unload();
    },
    expectLate: (plugin) => expected.add(plugin),
  };
}

// Sends the requests that a main-world adapter may not send itself. Same origin only: with the page's cookies and
// Origin it can do what the page could do, were it not for connect-src.

const maxBytes = 16 << 20;

class Sender {
  readonly #open = new Map<number, AbortController>();
  readonly #answer: (answer: OutsideAnswer) => void;

  constructor(answer: (answer: OutsideAnswer) => void) {
    this.#answer = answer;
  }

  send(request: OutsideRequest): void {
    const { number } = request;
    const controller = new AbortController();
    this.#open.set(number, controller);
    perform(request, controller.signal)
      .catch(
        (why: unknown): OutsideAnswer => ({
          number,
          failed: why instanceof Error ? why.message : String(why),
        }),
      )
      .then((answer) => {
        if (this.#open.delete(number)) this.#answer(answer);
      });
  }

  withdraw(number: number): void {
    this.#open.get(number)?.abort();
    this.#open.delete(number);
  }
}

async function perform(request: OutsideRequest, signal: AbortSignal): Promise<OutsideAnswer> {
  const { number, method, redirect } = request;
  const target = new URL(request.url);
  if (target.origin !== location.origin)
    return { number, failed: "Only requests to the page's own origin go this way" };
  const headers = request.headers.flatMap(([name, value]): [string, string][] =>
    name === undefined || value === undefined ? [] : [[name, value]],
  );
  const init: RequestInit = { method, redirect, headers, signal, credentials: 'include' };
  const response = await fetch(target, request.body === undefined ? init : { ...init, body: request.body });
  const body = await response.arrayBuffer();
  if (body.byteLength > maxBytes) return { number, failed: `The answer has more than ${maxBytes} bytes` };
  const { url, status, statusText, redirected } = response;
  return { number, url, status, statusText, redirected, headers: Array.from(response.headers), body };
}
