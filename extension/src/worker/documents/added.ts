// Code of plugins that is not in the extension's folder. The relay writes it there for the edition that it brings; an
// edition from a store has its own way, in added.store.ts.

import type { PluginInfo } from '../../protocol/frames.generated.ts';
import type { Bridge } from './bridges.ts';

export interface Added {
  /** The relay's list, with the files that this package has for the plugins in it. */
  settle(list: readonly PluginInfo[]): Promise<PluginInfo[]>;
  /** Whether a plugin's code is not in the package. */
  has(plugin: PluginInfo): boolean;
  /** Has Chrome run what must be in a page before its scripts, of the plugins whose code is not in the package. */
  register(plugins: readonly PluginInfo[]): Promise<void>;
  /** Puts a plugin's adapter into a document. */
  run(bridge: Bridge, plugin: PluginInfo): Promise<void>;
}

export interface AddedParts {
  /** Asks the relay, as a panel does. */
  ask(method: string, path: string, body?: unknown): Promise<{ status: number; body: unknown }>;
  problem(message: string): void;
}

export const addedCode = (_parts: AddedParts): Added | undefined => undefined;
