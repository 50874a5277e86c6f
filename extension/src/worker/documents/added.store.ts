// Plugins of the edition from a store. The adapters of plugins that ship are files of the package. The code of those
// that a person added comes from the relay, and goes to chrome.userScripts and nowhere else: the browser runs it as
// the person's own script, for who has switched that on.

import type { PluginInfo } from '../../protocol/frames.generated.ts';
import { isRecord, isText, optional, shape } from '../../shared/guards.ts';
import { scriptsNeededKey } from '../../shared/needed.ts';
import { switchUserScriptsOn, userScriptsAreOn } from '../../shared/user-scripts.ts';
import { randomHex } from '../util/random.ts';
import type { Added, AddedParts } from './added.ts';
import type { Bridge } from './bridges.ts';
import { Refused, refusalOf } from './inject.ts';
import { patternsForChrome } from './patterns.ts';

const isPackaged = shape({ hash: isText, file: isText, preScript: optional(isText) });
const isCode = shape({ code: isText });

type Script = chrome.userScripts.RegisteredUserScript;

class UserScripts implements Added {
  readonly #ask: AddedParts['ask'];
  readonly #problem: AddedParts['problem'];
  readonly #packaged = readPackaged();
  readonly #code = new Map<string, Promise<string>>(); // by file, whose name has a hash of what is in it
  // Of the relay's lists. A capability of the extension brings adapters as well, which are files of the package.
  readonly #added = new WeakSet<PluginInfo>();
  #listed: readonly PluginInfo[] = [];
  #waiting: readonly string[] = []; // those that Chrome did not run when they were registered
  #work: Promise<void> = Promise.resolve();

  constructor({ ask, problem }: AddedParts) {
    this.#ask = ask;
    this.#problem = problem;
    chrome.storage.local.onChanged.addListener((changes) => {
      const change = changes[scriptsNeededKey];
      if (change !== undefined && change.newValue === undefined) void this.register(this.#listed); // they are on now
    });
  }

  async settle(list: readonly PluginInfo[]): Promise<PluginInfo[]> {
    const packaged = await this.#packaged;
    return list.map((plugin) => {
      const own = packaged.get(plugin.name);
      if (own?.hash === plugin.hash) return { ...plugin, ...own };
      this.#added.add(plugin);
      return plugin;
    });
  }

  has(plugin: PluginInfo): boolean {
    return this.#added.has(plugin);
  }

  register(plugins: readonly PluginInfo[]): Promise<void> {
    this.#listed = plugins;
    this.#work = this.#work
      .then(() => this.#register(plugins.filter((plugin) => this.has(plugin))))
      .catch((why: unknown) => this.#problem(String(why)));
    return this.#work;
  }

  async run(bridge: Bridge, plugin: PluginInfo): Promise<void> {
    if (!(await userScriptsAreOn())) {
      await need([...new Set([...this.#waiting, plugin.name])]);
      throw new Refused(
        'INJECTION_FAILED',
        `Chrome does not run ${plugin.name}, which is not part of the extension, before the person has allowed it. ${switchUserScriptsOn()}`,
      );
    }
    if (this.#waiting.length > 0) void this.register(this.#listed); // no panel was open when they were allowed
    const code = await this.#codeOf(plugin.file);
    const main = plugin.world === 'main';
    const event = main ? undefined : randomHex(16);
    await bridge.expectLate(plugin.name, event);
    try {
      await chrome.userScripts.execute({
        target: { tabId: bridge.tabId, documentIds: [bridge.documentId] },
        injectImmediately: true,
        ...(event === undefined
          ? { world: 'MAIN', js: [{ code }] }
          : {
              world: 'USER_SCRIPT',
              worldId: plugin.name,
              js: [
                { code: `globalThis.tabrelayAdapterEvent=${JSON.stringify(event)};` },
                { file: 'user-world.js' },
                { code },
              ],
            }),
      });
    } catch (why) {
      throw refusalOf(why);
    }
  }

  async #register(added: readonly PluginInfo[]): Promise<void> {
    const on = await userScriptsAreOn();
    this.#waiting = on ? [] : added.map(({ name }) => name);
    void this.#ask('PUT', '/api/v1/extension/user-scripts', { waiting: this.#waiting }); // for `tabrelay doctor`
    if (!on) {
      await need(this.#waiting);
      return;
    }
    await chrome.storage.local.remove(scriptsNeededKey);
    const wanted = added.filter(({ world, preScript }) => world === 'main' || preScript !== undefined);
    const there = (await chrome.userScripts.getScripts()).map(({ id }) => id);
    const ids = new Set(wanted.map(idOf));
    const gone = there.filter((id) => !ids.has(id));
    if (gone.length > 0) await chrome.userScripts.unregister({ ids: gone });
    for (const plugin of wanted) {
      if (there.includes(idOf(plugin))) continue;
      try {
        await chrome.userScripts.register([await this.#scriptOf(plugin)]);
      } catch (why) {
        this.#problem(`Plugin ${plugin.name} cannot be registered: ${String(why)}`);
      }
    }
  }

  async #scriptOf(plugin: PluginInfo): Promise<Script> {
    const { preScript, world, file, matches, excludes, frames } = plugin;
    const js = preScript === undefined ? [] : [{ code: await this.#codeOf(preScript) }];
    if (world === 'main') js.push({ code: await this.#codeOf(file) });
    return {
      id: idOf(plugin),
      js,
      world: 'MAIN',
      runAt: 'document_start',
      matches: patternsForChrome(matches),
      excludeMatches: patternsForChrome(excludes),
      allFrames: frames === 'all',
    };
  }

  #codeOf(file: string): Promise<string> {
    const known = this.#code.get(file);
    if (known !== undefined) return known;
    const code = this.#fetch(file);
    this.#code.set(file, code);
    code.catch(() => this.#code.delete(file));
    return code;
  }

  async #fetch(file: string): Promise<string> {
    const { body } = await this.#ask('GET', `/api/v1/extension/${file}`);
    // Errors of the plugin name its file, as they do where it is one of the package.
    if (isCode(body)) return `${body.code}\n//# sourceURL=${chrome.runtime.getURL(file)}\n`;
    const error = isRecord(body) && isRecord(body.error) ? body.error : {};
    throw new Refused('ADAPTER_NOT_READY', `The relay did not hand out the code: ${String(error.message)}`);
  }
}

/** A script is another one when its code or its pages are: the file's name says which code. */
const idOf = ({ file, preScript, matches, excludes, frames }: PluginInfo): string =>
  JSON.stringify([file, preScript, matches, excludes, frames]);

async function need(plugins: readonly string[]): Promise<void> {
  if (plugins.length > 0) await chrome.storage.local.set({ [scriptsNeededKey]: plugins });
  else await chrome.storage.local.remove(scriptsNeededKey);
}

interface Packaged {
  hash: string;
  file: string;
  preScript?: string;
}

async function readPackaged(): Promise<Map<string, Packaged>> {
  const list: unknown = await (await fetch(chrome.runtime.getURL('adapters.json'))).json();
  const packaged = new Map<string, Packaged>();
  for (const [name, one] of Object.entries(isRecord(list) ? list : {})) {
    if (!isPackaged(one)) continue;
    const { hash, file, preScript } = one;
    packaged.set(name, { hash, file, ...(preScript !== undefined && { preScript }) });
  }
  return packaged;
}

export const addedCode = (parts: AddedParts): Added | undefined => new UserScripts(parts);
