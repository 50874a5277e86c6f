// The resident bridge: one per document a plugin serves, in the isolated world, where the page cannot reach it. It
// outlives the service worker, runs isolated adapters, passes calls to main-world ones, and owns every outcome
// until the relay has acknowledged it.

import { Recording } from '../capabilities/recording/document.ts';
import { startRun } from '../page/runtime.ts';
import type { Uncaught } from '../page/uncaught.ts';
import {
  type DialogAnswer,
  type FromBridge,
  isToBridge,
  type News,
  type ToBridge,
} from '../shared/bridge-messages.ts';
import type { CallOrder } from '../shared/order.ts';
import { Acting, type Watched } from './acting.ts';
import { Adapters } from './adapters.ts';
import { Calls, type Start } from './calls.ts';
import { watchConsole, watchErrors } from './console.ts';
import { hideInterfaces, openLine } from './line.ts';
import { watchMainWorld } from './main-world.ts';
import { Mark } from './mark.ts';
import { Pauses } from './pauses.ts';

declare global {
  var tabrelayBridge:
    | {
        register(about: unknown, definition: unknown, enter?: unknown): void;
        shadowRoot?(host: HTMLElement): ShadowRoot | null; // also a closed one
        watch?(answer: DialogAnswer): Promise<Watched>;
        offer?(look: () => void): (text: string) => void; // tools that the page registers
        pause?(ms: number): Promise<void>;
      }
    | undefined;
  var tabrelayLate: boolean | undefined; // set by late.js, which precedes this file when it is injected on demand
}

const recordingSign = { client: '● tabrelay', title: 'This tab is being recorded' };

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
  readonly #mark = new Mark();
  readonly #acting = new Acting((message) => this.#post(message));
  readonly #pauses = new Pauses((message) => this.#post(message));
  readonly #recording = new Recording((told) => this.#post({ type: 'recorded', told }));
  readonly #tail = watchConsole(this.#late, () => this.#post({ type: 'consoleGrew' }));
  readonly #calls = new Calls(
    (message) => this.#post(message),
    (order) => this.#find(order),
    this.#tail,
    ({ plugin, main }) => this.#prepared(plugin, main === true),
    this.#mark,
  );
  #tools = ''; // that the page registers, as they were told last
  #lookAtTools = () => {};
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
      Reflect.deleteProperty(globalThis, 'tabrelayBridge');
    },
  });

  register(about: unknown, definition: unknown, enter: unknown): void {
    const registered = this.#adapters.register(about, definition, enter);
    if (registered !== undefined) this.#post({ type: 'registered', ...registered, main: false });
  }

  /** Waits, also where the page is hidden and its timers are slow. */
  pause(ms: number): Promise<void> {
    return this.#pauses.pause(ms);
  }

  /** An act of the browser's tools begins: its dialogs are answered, and what happens around it is told. */
  async watch(answer: DialogAnswer): Promise<Watched> {
    const watched = await this.#acting.watch(answer);
    const errors = watchErrors(this.#tail);
    let over: Promise<News> | undefined;
    const end = async (): Promise<News> => {
      const [news, consoleErrors] = await Promise.all([watched.end(), errors()]);
      return { ...news, ...(consoleErrors.length > 0 && { consoleErrors }) };
    };
    return { ...watched, end: () => (over ??= end()) };
  }

  /** Takes how the page's tools are looked at; what it returns tells of them. */
  offer(look: () => void): (text: string) => void {
    this.#lookAtTools = look;
    return (text) => {
      if (text === this.#tools) return;
      this.#tools = text;
      this.#post({ type: 'tools', text });
    };
  }

  /** Tells of dialogs that nobody answers: each before it opens, and when it was closed. */
  tellDialogs(): void {
    this.#acting.listen((open, dialog) => this.#post({ type: 'dialog', open, dialog }));
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
      return isolated && tool && ((observer) => startRun(order, isolated, tool, observer));
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
    for (const { name, hash } of this.#mainWorld.live()) plugins.push({ name, hash, main: true });
    const running = this.#calls.running();
    const about = { epoch: this.#epoch, url: location.href, late: this.#late, reached: this.#reached };
    this.#post({ type: 'hello', ...about, plugins, running });
    for (const outcome of this.#calls.outcomes()) this.#post(outcome);
  }

  #handle(message: ToBridge): void {
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
        if (this.#tools !== '') this.#post({ type: 'tools', text: this.#tools });
        return;
      case 'console':
        this.#tail.hold(message.holdMs).then((held) => {
          const url = `${location.origin}${location.pathname}`;
          this.#post({ type: 'consoleLines', id: message.id, url, ...held });
        });
        return;
      case 'look':
        this.#lookAtTools();
        return;
      case 'ack':
        this.#calls.acknowledge(message.ids);
        return;
      case 'acting':
      case 'news':
        this.#acting.hear(message);
        return;
      case 'paused':
        this.#pauses.hear(message.number);
        return;
      case 'lend':
        this.#acting.lend(message.answer);
        return;
      case 'record':
        if (this.#recording.set(message.on)) this.#mark.hold(message.on ? recordingSign : undefined);
        return;
      case 'retire':
        this.#adapters.retire(message.plugin, message.hash);
        this.#mainWorld.retire(message.plugin, message.hash);
        return;
      case 'late':
        this.#mainWorld.expectLate(message.plugin);
        this.#tail.expectLate();
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
  bridge.tellDialogs();
  // A page can say that it goes away, but only Chrome is believed.
  addEventListener('pagehide', ({ isTrusted }) => {
    if (isTrusted) bridge.leave();
  });
  // Chrome keeps the port of a document that a javascript: address replaces. Calls end as the listener above returns.
  addEventListener('pagehide', ({ isTrusted, persisted }) => {
    if (isTrusted && !persisted) bridge.close();
  });
  const registration = {
    register: (about: unknown, definition: unknown, enter: unknown) =>
      bridge.register(about, definition, enter),
    shadowRoot: (host: HTMLElement) => dom.openOrClosedShadowRoot(host),
    watch: (answer: DialogAnswer) => bridge.watch(answer),
    offer: (look: () => void) => bridge.offer(look),
    pause: (ms: number) => bridge.pause(ms),
  };
  Object.defineProperty(globalThis, 'tabrelayBridge', {
    configurable: true,
    value: Object.freeze(registration),
  });
}

// A bridge that came at document_start stays when one is injected.
if (globalThis.tabrelayBridge === undefined) installBridge();
