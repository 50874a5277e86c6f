// What one plugin's bundle is lent: its settings, what its pre-script kept, and the log of a call. It is handed to a
// function of that bundle and never hangs on a global, so that two plugins of a tab do not see each other's.
import { isRecord, isText } from '../shared/guards.ts';
import {
  call,
  deleteProperty,
  keysOf,
  MapCtor,
  mapDelete,
  mapEach,
  mapSet,
  property,
} from '../shared/primordials.ts';
import type { Callable } from './hooks.ts';
import { isCallable } from './hooks.ts';
import { type Network, originOf } from './network.ts';

/** What does not change from call to call. */
export interface Lent {
  readonly preScript?: { get(key: string): unknown } | undefined;
  readonly network?: Network | undefined; // of the main world, where the page could replace what requests are made of
}

/** One open call, and the one that was the latest before it. */
interface Open {
  readonly settings: Record<string, unknown>;
  readonly log: object;
  readonly before: Open | undefined;
  over: boolean;
}

export class PluginScope {
  readonly #enter: Callable | undefined;
  readonly #lent: Lent;
  readonly #waiting = new MapCtor<() => void, true>(); // calls that wait for the plugin to be ready
  #latest: Open | undefined;

  constructor(enter: Callable | undefined, lent: Lent) {
    this.#enter = enter;
    this.#lent = lent;
    this.#tell({});
  }

  /** A call begins with these settings; what it returns ends it. */
  begin(settings: Record<string, unknown>, log: object): () => void {
    const open: Open = { settings, log, before: this.#latest, over: false };
    this.#latest = open;
    this.#tell(settings);
    return () => {
      open.over = true;
      while (this.#latest?.over === true) this.#latest = this.#latest.before;
      this.#tell(settings);
    };
  }

  /** Calls back when the plugin says that it may be ready now; what it returns stops that. */
  onReadiness(again: () => void): () => void {
    mapSet(this.#waiting, again, true);
    return () => void mapDelete(this.#waiting, again);
  }

  #tell(settings: Record<string, unknown>): void {
    if (this.#enter === undefined) return;
    const { preScript, network } = this.#lent;
    const readinessChanged = () => mapEach(this.#waiting, (_, again) => again());
    const log = this.#latest?.log;
    call(this.#enter, undefined, [{ settings, preScript, log, network, readinessChanged }]);
  }
}

/** Settings as a plugin sees them in this document: of several installations the one whose page this is. */
export function settingsHere(given: Record<string, unknown>, here: string): Record<string, unknown> {
  const names = keysOf(given);
  let own = given;
  for (let i = 0; i < names.length; i++) {
    const name = names[i];
    const value = name === undefined ? undefined : given[name];
    if (name === undefined || !isRecord(value)) continue;
    if (own === given) {
      const alone: Record<string, unknown> & { __proto__: null } = { __proto__: null, ...given };
      own = alone;
    }
    own[name] = instanceHere(value, here);
  }
  return own;
}

function instanceHere(urls: Record<string, unknown>, here: string): unknown {
  const names = keysOf(urls);
  let first: unknown;
  for (let i = 0; i < names.length; i++) {
    const name = names[i];
    const url = name === undefined ? undefined : urls[name];
    if (!isText(url)) continue;
    first ??= url;
    if (originOf(url) === originOf(here)) return url;
  }
  return first;
}

// What a plugin's pre-script kept. The file that runs the pre-script leaves it on a global of the plugin's own, and the
// adapter's file, which follows before any script of the page can run, takes it away.

/** The name of that global; relay/plugin/prescript.go writes the same. */
const globalOf = (name: string, hash: string): string => `tabrelayPreScript:${name}:${hash}`;

/** How to read what the pre-script of this plugin keeps; undefined when it did not run in this document. */
export function takePreScript(name: string, hash: string): { get(key: string): unknown } | undefined {
  const read: unknown = property(globalThis, globalOf(name, hash));
  if (!isCallable(read)) return undefined;
  deleteProperty(globalThis, globalOf(name, hash));
  return { get: (key) => call(read, undefined, [key]) };
}
