// The adapters in the main world of this document, each behind its own MessagePort.
import { adapterEvent, type FromAdapter, isFromAdapter, knockEvent, type ToAdapter } from '../page/door.ts';
import type { Order } from '../page/order.ts';
import type { Observer } from '../page/reporting.ts';
import type { Run } from '../page/runtime.ts';
import { Sender } from './outside.ts';

/** One adapter in the main world. */
export interface Door {
  name: string;
  hash: string;
  late: boolean; // injected after scripts of the page ran, so the page may have seen what passes here
  start(order: Order, observer: Observer): Run;
  retire(): void; // another version has taken its place; its open calls go on
}

function openDoor(port: MessagePort, late: boolean, ready: (door: Door) => void): void {
  const observers = new Map<string, Observer>();
  const post = (message: ToAdapter) => port.postMessage(message);
  const sender = new Sender((answer) => post({ type: 'fetched', answer }));
  const retire = () => post({ type: 'retire' });

  const hear = (message: FromAdapter) => {
    if (message.type === 'ready') {
      ready({ name: message.name, hash: message.hash, late, start, retire });
      return;
    }
    if (message.type === 'fetch') return sender.send(message.wish);
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

  function start(order: Order, observer: Observer): Run {
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
      sign: (message) => post({ type: 'sign', id: order.id, message }),
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
export function watchDoors(
  bridgeLate: boolean,
  ready: (door: Door) => void,
): { get(plugin: string): Door | undefined; all(): Iterable<Door>; expectLate(plugin: string): void } {
  const doors = new Map<string, Door>();
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
    openDoor(port, late, (door) => {
      // The first wins at document_start; on demand only the plugin that was injected may come in.
      if (late ? !expected.delete(door.name) : doors.has(door.name)) return;
      doors.get(door.name)?.retire();
      doors.set(door.name, door);
      ready(door);
    });
  });

  if (early) {
    // Timers of hidden pages are slow; a message is not.
    const turn = new MessageChannel();
    turn.port1.onmessage = () => {
      end();
      turn.port1.close();
    };
    turn.port2.postMessage(undefined);
    document.dispatchEvent(new Event(knockEvent));
  }

  return {
    get: (plugin) => doors.get(plugin),
    all: () => doors.values(),
    expectLate: (plugin) => expected.add(plugin),
  };
}
