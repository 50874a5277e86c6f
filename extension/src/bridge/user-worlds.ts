// The isolated adapters that run as user scripts, each in a world of its own. Its port comes with an event whose name
// the worker told both, and nobody else.
import type { Uncaught } from '../page/uncaught.ts';
import { listenTo, type MainAdapter } from './main-world.ts';

export class UserWorlds {
  readonly #adapters = new Map<string, MainAdapter>();
  readonly #ready: (adapter: MainAdapter) => void;
  readonly #uncaught: (plugin: string, error: Uncaught) => void;

  constructor(ready: (adapter: MainAdapter) => void, uncaught: (plugin: string, error: Uncaught) => void) {
    this.#ready = ready;
    this.#uncaught = uncaught;
  }

  /** Takes the adapter of a plugin that is about to be put into the document. */
  expect(plugin: string, event: string): void {
    const take = (adapter: MainAdapter) => {
      if (adapter.name !== plugin) return;
      this.#adapters.get(plugin)?.unload();
      this.#adapters.set(plugin, adapter);
      this.#ready(adapter);
    };
    const hear = (given: Event) => {
      const port = given instanceof MessageEvent ? given.ports[0] : undefined;
      if (port === undefined) return;
      given.preventDefault();
      listenTo(port, false, take, this.#uncaught);
    };
    document.addEventListener(event, hear, { once: true });
  }

  get(plugin: string, hash: string): MainAdapter | undefined {
    const found = this.#adapters.get(plugin);
    return found?.hash === hash ? found : undefined;
  }

  live(): MainAdapter[] {
    return Array.from(this.#adapters.values()).filter(({ live }) => live);
  }

  unload(plugin: string, hash: string): void {
    this.get(plugin, hash)?.unload();
  }

  retireAll(): void {
    for (const adapter of this.#adapters.values()) adapter.unload();
  }
}
