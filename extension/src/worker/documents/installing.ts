import type { PluginInfo } from '../../protocol/frames.generated.ts';
import { urlAllowed } from '../../shared/patterns.ts';
import type { Tabs } from '../tabs/tabs.ts';
import type { Added } from './added.ts';
import type { Bridges } from './bridges.ts';
import type { Injector } from './inject.ts';
import { awaitedIn, type Plugins } from './plugins.ts';

interface Parts {
  tabs: Tabs;
  bridges: Bridges;
  injector: Injector;
  plugins: Plugins;
  added: Added | undefined;
}

/** Takes the relay's list of plugins, and has the documents follow it that are open. */
export async function install(
  told: readonly PluginInfo[],
  { tabs, bridges, injector, plugins, added }: Parts,
): Promise<void> {
  const list = (await added?.settle(told)) ?? told;
  const replaced = plugins.replace(list);
  for (const bridge of bridges.all()) plugins.unloadOutdatedIn(bridge);
  await replaced;
  await tabs.loaded;
  // Documents that were open before get their bridge now: it is what wakes this worker when it dies.
  for (const tab of tabs.all()) {
    const served = plugins.all().some((plugin) => urlAllowed(tab.url, awaitedIn(plugin), plugin.excludes));
    if (!served || tab.discarded || bridges.top(tab.id) !== undefined) continue;
    injector.ensureBridge(tab.id).catch(() => {}); // a call to that tab will say why
  }
}
