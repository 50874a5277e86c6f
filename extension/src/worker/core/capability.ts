// The interface of capabilities to the worker. A capability is registered in capabilities/worker.ts; nothing else in
// the worker names it.
import type { FromExtension } from '../../protocol/frames.generated.ts';
import type { FromBridge } from '../../shared/bridge-messages.ts';
import type { Documents } from '../calls/documents.ts';
import type { ToolHandler } from '../calls/tool-runner.ts';
import type { Bridge, Bridges } from '../documents/bridges.ts';
import type { Injector } from '../documents/inject.ts';
import type { Plugins } from '../documents/plugins.ts';
import type { FrameOf } from '../link/frames.ts';
import type { Answer } from '../link/requests.ts';
import type { Tabs } from '../tabs/tabs.ts';
import type { Command } from './commands.ts';

/** What a capability may use. */
export interface Core {
  tabs: Tabs;
  bridges: Bridges;
  injector: Injector;
  plugins: Plugins;
  documents: Documents;
  /** Throws unless a tab has a web page that is loaded and not blocked. */
  requireAwake(tabId: number): void;
  /** Asks the relay, as a panel does. */
  ask(method: string, path: string): Promise<Answer>;
  panelsOpen(): number;
  /** Sends a frame to the relay; payload is JSON that may be large. */
  send(frame: FromExtension, payload?: string): void;
}

/** What a capability may bring. */
export interface Capability {
  /** Carry out tools of the browser's own plugins, by the tools' names. */
  handlers?: Readonly<Record<string, ToolHandler>>;
  /** Carries out all other tools of theirs. One capability at most has it. */
  standard?: ToolHandler;
  /** Carry out what the relay asks of the browser itself, by the commands' names. */
  commands?: Readonly<Record<string, Command>>;
  /** Adapters of the extension itself, which no list of the relay has. */
  adapters?: readonly { name: string; hash: string }[];

  /** Handles a message of a document; false: it is not for this capability. */
  hear?(bridge: Bridge, message: FromBridge): boolean;
  /** A bridge is ready, also again after the worker's death. */
  ready?(bridge: Bridge): void;
  /** A document went away. */
  gone?(bridge: Bridge): void;
  /** A tab was closed. */
  removed?(tabId: number): void;
  /** A call of the browser's own tools has been carried out in a tab. */
  called?(tabId: number): void;

  /** There is a connection to a relay. */
  welcomed?(welcome: FrameOf<'welcome'>): void;
  /** The relay has been sent the tabs. */
  listed?(): void;
  /** What panels show of these topics is different now. */
  news?(topics: readonly string[]): void;
  /** The connection is lost. */
  lost?(): void;
}

export type Attach = (core: Core) => Capability;

/** The capabilities of this worker: each event goes to all of them. */
export class Capabilities {
  readonly handlers = new Map<string, ToolHandler>();
  readonly standard: ToolHandler | undefined;
  readonly commands = new Map<string, Command>();
  readonly #all: readonly Capability[];

  constructor(list: readonly Attach[], core: Core) {
    this.#all = list.map((attach) => attach(core));
    this.standard = this.#all.find(({ standard }) => standard !== undefined)?.standard;
    for (const { handlers = {}, commands = {}, adapters = [] } of this.#all) {
      for (const [tool, perform] of Object.entries(handlers)) this.handlers.set(tool, perform);
      for (const [name, command] of Object.entries(commands)) this.commands.set(name, command);
      for (const adapter of adapters) core.plugins.addBundled(adapter);
    }
  }

  hear(bridge: Bridge, message: FromBridge): boolean {
    return this.#all.some((one) => one.hear?.(bridge, message) === true);
  }

  ready(bridge: Bridge): void {
    for (const one of this.#all) one.ready?.(bridge);
  }

  gone(bridge: Bridge): void {
    for (const one of this.#all) one.gone?.(bridge);
  }

  removed(tabId: number): void {
    for (const one of this.#all) one.removed?.(tabId);
  }

  called(tabId: number): void {
    for (const one of this.#all) one.called?.(tabId);
  }

  welcomed(welcome: FrameOf<'welcome'>): void {
    for (const one of this.#all) one.welcomed?.(welcome);
  }

  listed(): void {
    for (const one of this.#all) one.listed?.();
  }

  news(topics: readonly string[]): void {
    for (const one of this.#all) one.news?.(topics);
  }

  lost(): void {
    for (const one of this.#all) one.lost?.();
  }
}
