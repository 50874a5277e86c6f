// The document of a tab that a call is for: its page, or a frame in it when the page itself is none of the plugin's.

import type { CallFrame, PluginInfo } from '../../protocol/frames.generated.ts';
import type { CallOrder } from '../../shared/order.ts';
import { urlAllowed } from '../../shared/patterns.ts';
import type { Bridge, Bridges } from './bridges.ts';
import type { Injector } from './inject.ts';

export interface Addressee {
  frame: Pick<CallFrame, 'tabId' | 'frames'>;
  plugin: PluginInfo;
  tabUrl: string;
}

const matches = ({ plugin }: Addressee, url: string) => urlAllowed(url, plugin.matches, plugin.excludes);

const isInFrame = (to: Addressee) => to.frame.frames === 'all' && !matches(to, to.tabUrl);

/** Its bridge, if it has one already. */
export function residentBridge(bridges: Bridges, to: Addressee): Bridge | undefined {
  const { tabId } = to.frame;
  if (!isInFrame(to)) return bridges.top(tabId);
  const frames = bridges.of(tabId).filter((bridge) => matches(to, bridge.url));
  return frames.sort((a, b) => a.frameId - b.frameId)[0];
}

/** Its bridge, once it is there: a frame's connects by itself, a moment after the page's. */
export async function bridgeOf(bridges: Bridges, injector: Injector, to: Addressee): Promise<Bridge> {
  const { tabId } = to.frame;
  if (isInFrame(to)) {
    const inside = (bridge: Bridge) => bridge.tabId === tabId && matches(to, bridge.url);
    const bridge = await bridges.when(inside, injector.patienceMs);
    if (bridge !== undefined) return bridge;
  }
  return injector.bridge(tabId);
}

// What of a call goes into the page.

/** The order for a document. What only the relay and this worker need stays outside of it. */
export function orderOf(frame: CallFrame, plugin: PluginInfo, args: string): CallOrder {
  const { matches, excludes, world, file } = plugin;
  const { type: _, write: _write, consoleTailBytes: _tail, frames: _frames, ...rest } = frame;
  const { client: _client, title: _title, origin: _origin, follow, ...order } = rest;
  const about = { main: world === 'main', settings: frame.settings, matches, excludes, args };
  return { ...order, ...about, ...(follow === true && { follow: file }) };
}

/**
 * Whether a document is of another origin than the call is for: what a person allowed on one is not done on another,
 * also when the relay does not know yet where the tab went.
 */
export const isElsewhere = ({ origin }: CallFrame, url: string): boolean =>
  origin !== undefined && new URL(url).origin !== origin;

/** Whether a plugin covers a document. One without an address of its own, as about:srcdoc, is of its origin. */
export function isCovered(
  { url, origin }: Pick<Bridge, 'url' | 'origin'>,
  top: string | undefined, // origin of the page around it
  { matches, excludes }: PluginInfo,
): boolean {
  if (/^https?:/.test(url)) return urlAllowed(url, matches, excludes);
  return origin === 'null' || origin === top || urlAllowed(`${origin}/`, matches, excludes);
}
