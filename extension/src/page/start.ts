// Connects the adapter of a plugin to the bridge of its document, from another world than the bridge's.

import { isRecord, isText } from '../shared/guards.ts';
import type { CallOrder } from '../shared/order.ts';
import {
  eventData,
  listen,
  MapCtor,
  MessageChannelCtor,
  mapDelete,
  mapGet,
  mapSet,
  portPost,
  portStart,
} from '../shared/primordials.ts';
import { type FromAdapter, handOver, readToAdapter } from './channel.ts';
import { readAdapter } from './definition.ts';
import { liveIn } from './hooks.ts';
import { openNetwork } from './network.ts';
import { openOutside } from './outside.ts';
import type { Observer } from './reporting.ts';
import { type Run, startRun } from './runtime.ts';
import { takePreScript } from './scope.ts';
import { UncaughtErrors } from './uncaught.ts';

/** An adapter as its composed file hands it over. */
export interface Given {
  about: unknown;
  definition: unknown;
  enter?: unknown;
}

/** How the adapter's world differs. */
export interface World {
  event: string; // which the bridge waits for
  shared: boolean; // with the page, which could replace what requests are made of
}

export function startAdapter({ about, definition, enter }: Given, { event, shared }: World): void {
  if (!isRecord(about) || !isText(about.name) || !isText(about.hash)) return;
  const channel = new MessageChannelCtor();
  const port = channel.port1;
  const post = (message: FromAdapter) => portPost(port, message);
  const outside = openOutside(
    (request) => post({ type: 'fetch', request }),
    (number) => post({ type: 'unfetch', number }),
  );
  const preScript = takePreScript(about.name, about.hash);
  const lent = shared ? { preScript, network: openNetwork(outside.fetch) } : {};
  const uncaught = new UncaughtErrors((error) => post({ type: 'uncaught', error }), shared);
  const adapter = readAdapter(definition, enter, lent, uncaught);
  if (adapter === undefined) return;
  const runs = new MapCtor<string, Run>();

  const observe = (id: string): Observer => ({
    waiting: () => post({ type: 'waiting', id }),
    started: () => post({ type: 'started', id }),
    progress: (step) => post({ type: 'progress', id, step }),
    log: (line) => post({ type: 'log', id, line }),
    ended: (ending) => {
      mapDelete(runs, id);
      post({ type: 'ended', id, ending });
    },
    late: (ending) => post({ type: 'late', id, ending }),
  });

  const run = (order: CallOrder) => {
    const tool = adapter.tool(order.tool);
    const observer = observe(order.id);
    if (tool === undefined) {
      const message = `The adapter in this page has no tool ${order.tool}`;
      const refusal = { code: 'ADAPTER_NOT_READY', message, outcome: 'not_executed' } as const;
      observer.ended({ status: 'refused', started: false, refusal });
      return;
    }
    let ended = false;
    const started = startRun(order, adapter, tool, {
      ...observer,
      ended: (ending) => {
        ended = true;
        observer.ended(ending);
      },
    });
    if (!ended) mapSet(runs, order.id, started);
  };

  listen(port, 'message', (event) => {
    const message = readToAdapter(eventData(event));
    if (message === undefined) return;
    switch (message.type) {
      case 'run':
        return run(message.order);
      case 'abort':
        return mapGet(runs, message.id)?.abort(message.reason);
      case 'sign':
        return mapGet(runs, message.id)?.progressFromConsole(message.message);
      case 'fetched':
        return outside.hear(message.answer);
      case 'unload':
        return leave();
    }
  });
  if (about.developed === true) uncaught.loaded();
  const leaveDocument = liveIn(adapter.hooks, (hook, thrown) => uncaught.hookThrew(hook, thrown));
  const leave = () => {
    leaveDocument();
    uncaught.stop();
  };
  portStart(port);
  post({ type: 'ready', name: about.name, hash: about.hash });
  handOver(channel.port2, event);
}
