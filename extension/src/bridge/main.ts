// The resident bridge: one per document a plugin serves, in the isolated world, where the page cannot reach it. It
// outlives the service worker, runs isolated adapters, passes calls to main-world ones, and owns every outcome
// until the relay has acknowledged it.

import { inBridge } from '../capabilities/bridge.ts';
import { startRun } from '../page/runtime.ts';
import type { Uncaught } from '../page/uncaught.ts';
import { type FromBridge, isToBridge, type ToBridge } from '../shared/bridge-messages.ts';
import { hideInterfaces } from '../shared/interfaces.ts';
import type { CallOrder } from '../shared/order.ts';
import { Adapters } from './adapters.ts';
import { Calls, type Start } from './calls.ts';
import { watchConsole, watchErrors } from './console.ts';
import { openLine } from './line.ts';
import { watchMainWorld } from './main-world.ts';
import { Mark } from './mark.ts';
import { UserWorlds } from './user-worlds.ts';

declare global {
  var tabrelayLate: boolean | undefined; // set by late.js, which precedes this file when it is injected on demand
}

class Resident {
  readonly #late = globalThis.tabrelayLate === true;
  readonly #uncaught = (plugin: string, error: Uncaught) =>
    this.#post({ ...error, type: 'followed', plugin });
  readonly #adapters = new Adapters(this.#uncaught);
  readonly #mainWorld = watchMainWorld(
    this.#late,
    ({ name, hash }) => this.#post({ type: 'registered', name, hash, main: true }),
    this.#uncaught,
  );
  readonly #userWorlds = new UserWorlds(
    ({ name, hash }) => this.#post({ type: 'registered', name, hash, main: false }),
    this.#uncaught,
  );
  readonly #mark = new Mark();
  readonly #tail = watchConsole(this.#late, () => this.#post({ type: 'consoleGrew' }));
  readonly #calls = new Calls(
    (message) => this.#post(message),
    (order) => this.#find(order),
    this.#tail,
    ({ plugin, main }) => this.#prepared(plugin, main === true),
    this.#mark,
  );
  readonly #capabilities = inBridge.map((attach) =>
    attach({
      post: (message) => this.#post(message),
      hold: (held) => this.#mark.hold(held),
      watchErrors: () => watchErrors(this.#tail),
    }),
  );
  #epoch = '';
  #reached: boolean | undefined; // by another document, before our scripts ran
  readonly #line = openLine({
    connected: () => queueMicrotask(() => this.#sayHello()), // adapters of this document register in the same task
    message: (raw) => {
      if (isToBridge(raw)) this.#handle(raw);
    },
    lost: () => this.#calls.forgetUnconfirmed(),
    urgent: () => !this.#calls.idle,
    orphaned: () => {
      this.leave();
      this.#adapters.retireAll();
      this.#mainWorld.retireAll();
      this.#userWorlds.retireAll();
      Reflect.deleteProperty(globalThis, 'tabrelayBridge');
    },
  });

  register(about: unknown, definition: unknown, enter: unknown): void {
    const registered = this.#adapters.register(about, definition, enter);
    if (registered !== undefined) this.#post({ type: 'registered', ...registered, main: false });
  }

  /** What the capabilities offer to the other scripts of this world. */
  get offers(): Partial<TabrelayBridge> {
    return Object.assign({}, ...this.#capabilities.map(({ offers }) => offers));
  }

  /** The document goes away, or the extension did. */
  leave(): void {
    this.#calls.abortAll('document');
    this.#mark.drop();
  }

  /** The document will not come back, and has said all. */
  close(): void {
    this.#line.close();
  }

  #find(order: CallOrder): Start | undefined {
    // Never one world for the other: what the main world offers, a page could have offered.
    if (order.main !== true) {
      const isolated = this.#adapters.get(order.plugin, order.hash);
      const tool = isolated?.tool(order.tool);
      if (isolated && tool) return (observer) => startRun(order, isolated, tool, observer);
      const elsewhere = this.#userWorlds.get(order.plugin, order.hash);
      return elsewhere && ((observer) => elsewhere.start(order, observer));
    }
    const adapter = this.#mainWorld.get(order.plugin);
    return adapter?.hash === order.hash ? (observer) => adapter.start(order, observer) : undefined;
  }

  // Whether the main world may have been changed before the adapter came, and by whom.
  #prepared(plugin: string, main: boolean): 'older' | 'reached' | undefined {
    if (!main) return undefined;
    if (this.#reached !== false) return 'reached';
    return this.#mainWorld.get(plugin)?.late === true ? 'older' : undefined;
  }

  #sayHello(): void {
    const plugins = this.#adapters.list().map((one) => ({ ...one, main: false }));
    for (const { name, hash } of this.#userWorlds.live()) plugins.push({ name, hash, main: false });
    for (const { name, hash } of this.#mainWorld.live()) plugins.push({ name, hash, main: true });
    const running = this.#calls.running();
    const about = { epoch: this.#epoch, url: location.href, late: this.#late, reached: this.#reached };
    this.#post({ type: 'hello', ...about, plugins, running });
    for (const outcome of this.#calls.outcomes()) this.#post(outcome);
  }

  #handle(message: ToBridge): void {
    if (this.#capabilities.some((one) => one.hear?.(message) === true)) return;
    switch (message.type) {
      case 'call':
        this.#calls.start(message.order, message.sentAt, message.tailBytes, message.acting);
        return;
      case 'go':
        this.#calls.go(message.id);
        return;
      case 'cancel':
        this.#post({ type: 'cancelled', id: message.id, phase: this.#calls.cancel(message.id) });
        return;
      case 'query':
        this.#post({ type: 'known', id: message.id, phase: this.#calls.phase(message.id) });
        return;
      case 'epoch':
        this.#epoch = message.epoch;
        this.#reached ??= message.reached;
        this.#post({ type: 'here' });
        for (const one of this.#capabilities) one.greeted?.();
        return;
      case 'console':
        this.#tail.hold(message.holdMs).then((held) => {
          const url = `${location.origin}${location.pathname}`;
          this.#post({ type: 'consoleLines', id: message.id, url, ...held });
        });
        return;
      case 'ack':
        this.#calls.acknowledge(message.ids);
        return;
      case 'unload':
        this.#adapters.unload(message.plugin, message.hash);
        this.#mainWorld.unload(message.plugin, message.hash);
        this.#userWorlds.unload(message.plugin, message.hash);
        return;
      case 'late':
        if (message.event !== undefined) this.#userWorlds.expect(message.plugin, message.event);
        else {
          this.#mainWorld.expectLate(message.plugin);
          this.#tail.expectLate();
        }
        this.#post({ type: 'lateReady', id: message.plugin });
        return;
    }
  }

  #post(message: FromBridge): void {
    this.#line.post(message);
  }
}

function installBridge(): void {
  const bridge = new Resident();
  const { dom } = chrome; // as long as this world has it
  hideInterfaces();
  // A page can say that it goes away, but only Chrome is believed.
  addEventListener('pagehide', ({ isTrusted }) => {
    if (isTrusted) bridge.leave();
  });
  // Chrome keeps the port of a document that a javascript: address replaces. Calls end as the listener above returns.
  addEventListener('pagehide', ({ isTrusted, persisted }) => {
    if (isTrusted && !persisted) bridge.close();
  });
  const registration: TabrelayBridge = {
    ...bridge.offers,
    register: (about, definition, enter) => bridge.register(about, definition, enter),
    shadowRoot: (host) => dom.openOrClosedShadowRoot(host),
  };
  Object.defineProperty(globalThis, 'tabrelayBridge', {
    configurable: true,
    value: Object.freeze(registration),
  });
}

// A bridge that came at document_start stays when one is injected.
if (globalThis.tabrelayBridge === undefined) installBridge();
