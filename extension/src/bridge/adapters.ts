// The isolated-world adapters of this document. They share the world with the bridge and register themselves.
import { type Adapter, readAdapter } from '../page/definition.ts';
import { liveIn } from '../page/hooks.ts';
import { type Uncaught, UncaughtErrors } from '../page/uncaught.ts';
import { isRecord, isText } from '../shared/guards.ts';

interface Resident {
  hash: string;
  adapter: Adapter;
  live: boolean; // not once it was unloaded
  leave(): void;
}

export class Adapters {
  readonly #adapters = new Map<string, Resident>();
  readonly #uncaught: (plugin: string, error: Uncaught) => void;

  constructor(uncaught: (plugin: string, error: Uncaught) => void) {
    this.#uncaught = uncaught;
  }

  /** Takes what a plugin's bundle exports; its name and hash, or undefined when it is no plugin. */
  register(about: unknown, definition: unknown, enter: unknown): { name: string; hash: string } | undefined {
    if (!isRecord(about) || !isText(about.name) || !isText(about.hash)) return undefined;
    const { name, hash } = about;
    const uncaught = new UncaughtErrors((error) => this.#uncaught(name, error));
    const adapter = readAdapter(definition, enter, {}, uncaught);
    if (adapter === undefined) return undefined;
    this.#adapters.get(name)?.leave(); // its open calls go on
    if (about.developed === true) uncaught.loaded();
    const leaveDocument = liveIn(adapter.hooks, (hook, thrown) => uncaught.hookThrew(hook, thrown));
    const resident: Resident = {
      hash,
      adapter,
      live: true,
      leave() {
        resident.live = false;
        leaveDocument();
        uncaught.stop();
      },
    };
    this.#adapters.set(name, resident);
    return { name, hash };
  }

  has(plugin: string): boolean {
    return this.#adapters.has(plugin);
  }

  get(plugin: string, hash: string): Adapter | undefined {
    const found = this.#adapters.get(plugin);
    return found?.hash === hash ? found.adapter : undefined;
  }

  /** Ends an adapter's time in this document. A call of it that is on its way still finds it. */
  unload(plugin: string, hash: string): void {
    const found = this.#adapters.get(plugin);
    if (found?.hash === hash) found.leave();
  }

  retireAll(): void {
    for (const adapter of this.#adapters.values()) adapter.leave();
  }

  list(): { name: string; hash: string }[] {
    return Array.from(this.#adapters)
      .filter(([, { live }]) => live)
      .map(([name, { hash }]) => ({ name, hash }));
  }
}
