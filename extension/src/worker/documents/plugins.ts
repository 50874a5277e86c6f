// The plugins the relay has, as content scripts: the bridge and the console tap wherever a plugin serves, and each
// main-world adapter with its pre-script, all at document_start.

import type { PluginInfo } from '../../protocol/frames.generated.ts';
import type { Added } from './added.ts';
import type { Bridge } from './bridges.ts';
import { patternsForChrome } from './patterns.ts';

type Script = chrome.scripting.RegisteredContentScript;

const base = { persistAcrossSessions: true, runAt: 'document_start', matchOriginAsFallback: false } as const;

/**
 * The pages in which a plugin is waited for. One for every site that does not need to be there early is put into a page
 * by its first call: until then no page that nobody asks about has anything of ours.
 */
export function awaitedIn({ matches, world, preScript }: PluginInfo): string[] {
  if (world === 'main' || preScript !== undefined) return matches;
  return matches.filter((pattern) => !/^[^:]*:\/\/\*[:/]/.test(pattern));
}

/**
 * The content scripts a list of plugins needs. The bridge is first, so that it is there when adapters come. inPackage:
 * the code of a plugin is a file of the extension.
 */
export function wantedScripts(
  plugins: readonly PluginInfo[],
  inPackage: (plugin: PluginInfo) => boolean = () => true,
): Script[] {
  const matches = Array.from(
    new Set(plugins.flatMap((plugin) => patternsForChrome(awaitedIn(plugin)))),
  ).sort();
  if (matches.length === 0) return [];
  const allFrames = plugins.some((plugin) => plugin.frames === 'all');
  const scripts: Script[] = [
    { ...base, id: 'bridge', js: ['bridge.js'], matches, allFrames, world: 'ISOLATED' },
    { ...base, id: 'console', js: ['tap.js'], matches, allFrames, world: 'MAIN' },
  ];
  for (const plugin of plugins.filter(inPackage)) {
    const js = plugin.preScript === undefined ? [] : [plugin.preScript];
    if (plugin.world === 'main') js.push(plugin.file);
    if (js.length === 0) continue;
    scripts.push({
      ...base,
      id: `plugin:${plugin.name}`,
      js,
      matches: patternsForChrome(plugin.matches),
      allFrames: plugin.frames === 'all',
      world: 'MAIN',
      ...(plugin.excludes.length > 0 && { excludeMatches: patternsForChrome(plugin.excludes) }),
    });
  }
  return scripts;
}

// Chrome adds defaults and may order keys its own way.
function fingerprint(scripts: readonly Script[]): string {
  const plain = scripts.map(({ id, js, matches, excludeMatches, allFrames, world }) => [
    id,
    js,
    matches?.toSorted(),
    excludeMatches ?? [],
    allFrames,
    world,
  ]);
  return JSON.stringify(plain.sort((a, b) => String(a[0]).localeCompare(String(b[0]))));
}

const comingMs = 1000; // for the list with a version that a call names already

export class Plugins {
  readonly #plugins = new Map<string, PluginInfo>();
  // The version before, of those that changed: a call may have left the relay just before the new list did.
  readonly #before = new Map<string, PluginInfo>();
  readonly #waiting = new Set<() => void>();
  readonly #problem: (message: string) => void;
  readonly #added: Added | undefined;
  readonly #bundled = new Map<string, string>(); // hashes of the extension's own adapters, by name
  #listed = false; // by the relay, since this worker runs
  #work: Promise<void> = Promise.resolve();

  constructor(problem: (message: string) => void, added?: Added) {
    this.#problem = problem;
    this.#added = added;
  }

  get(name: string): PluginInfo | undefined {
    return this.#plugins.get(name);
  }

  /** A version of a plugin: the one there is now, or the one it took the place of. */
  version(name: string, hash: string): PluginInfo | undefined {
    return [this.#plugins.get(name), this.#before.get(name)].find((plugin) => plugin?.hash === hash);
  }

  /** The same, once the relay's list has it: a call can be faster than the list. Undefined when it does not come. */
  awaitVersion(name: string, hash: string): Promise<PluginInfo | undefined> {
    return new Promise((resolve) => {
      const end = (plugin: PluginInfo | undefined) => {
        clearTimeout(timer);
        this.#waiting.delete(look);
        resolve(plugin);
      };
      const look = () => {
        const plugin = this.version(name, hash);
        if (plugin !== undefined) end(plugin);
      };
      const timer = setTimeout(() => end(undefined), comingMs);
      this.#waiting.add(look);
    });
  }

  /** Keeps an adapter that the extension itself brings: it is in no list of the relay. */
  addBundled({ name, hash }: Pick<PluginInfo, 'name' | 'hash'>): void {
    this.#bundled.set(name, hash);
  }

  /** Ends in a document what is there of plugins that the relay's list has no more, or in another version. */
  unloadOutdatedIn(bridge: Bridge): void {
    if (!this.#listed) return;
    bridge.unloadOutdated((name) => this.#bundled.get(name) ?? this.#plugins.get(name)?.hash);
  }

  all(): PluginInfo[] {
    return Array.from(this.#plugins.values());
  }

  /** Takes the relay's whole list; resolves when Chrome has it too. One change at a time. */
  replace(plugins: readonly PluginInfo[]): Promise<void> {
    for (const { name, hash } of plugins) {
      const was = this.#plugins.get(name);
      if (was !== undefined && was.hash !== hash) this.#before.set(name, was);
    }
    this.#listed = true;
    this.#plugins.clear();
    for (const plugin of plugins) this.#plugins.set(plugin.name, plugin);
    for (const name of this.#before.keys()) if (!this.#plugins.has(name)) this.#before.delete(name);
    for (const look of Array.from(this.#waiting)) look();
    this.#work = this.#work
      .then(() => this.#register(plugins))
      .then(() => this.#added?.register(plugins))
      .catch((why: unknown) => this.#problem(String(why)));
    return this.#work;
  }

  #wanted(plugins: readonly PluginInfo[]): Script[] {
    return wantedScripts(plugins, (plugin) => !this.#added?.has(plugin));
  }

  async #register(plugins: readonly PluginInfo[]): Promise<void> {
    const wanted = this.#wanted(plugins);
    const current = await chrome.scripting.getRegisteredContentScripts();
    if (fingerprint(current) === fingerprint(wanted)) return;
    if (current.length > 0) await chrome.scripting.unregisterContentScripts();
    if (wanted.length === 0) return;
    try {
      await chrome.scripting.registerContentScripts(wanted);
    } catch (why) {
      this.#problem(`Content scripts could not be registered together: ${String(why)}`);
      await this.#registerEach(plugins);
    }
  }

  // One plugin with a bad pattern or a missing file must not take the others along.
  async #registerEach(plugins: readonly PluginInfo[]): Promise<void> {
    const good: PluginInfo[] = [];
    for (const plugin of plugins) {
      try {
        await chrome.scripting.unregisterContentScripts();
        await chrome.scripting.registerContentScripts(this.#wanted([...good, plugin]));
        good.push(plugin);
      } catch (why) {
        this.#problem(`Plugin ${plugin.name} cannot be registered: ${String(why)}`);
      }
    }
    await chrome.scripting.unregisterContentScripts();
    if (good.length > 0) await chrome.scripting.registerContentScripts(this.#wanted(good));
  }
}
