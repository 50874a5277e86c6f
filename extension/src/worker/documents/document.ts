// Finds the document of a call of a plugin's tool: that of the tab's page, or of a frame where the page is not of the
// plugin's site.

import type { CallFrame, PluginInfo } from '../../protocol/frames.generated.ts';
import type { CallOrder } from '../../shared/order.ts';
import { urlAllowed } from '../../shared/patterns.ts';
import type { Bridge, Bridges } from './bridges.ts';
import type { Injector } from './inject.ts';

export interface CallTarget {
  frame: Pick<CallFrame, 'tabId' | 'frames'>;
  plugin: PluginInfo;
  tabUrl: string;
}

const matches = ({ plugin }: CallTarget, url: string) => urlAllowed(url, plugin.matches, plugin.excludes);

const isInFrame = (to: CallTarget) => to.frame.frames === 'all' && !matches(to, to.tabUrl);

/** The bridge of the document, if it has one already. */
export function residentBridge(bridges: Bridges, to: CallTarget): Bridge | undefined {
  const { tabId } = to.frame;
  if (!isInFrame(to)) return bridges.top(tabId);
  const frames = bridges.of(tabId).filter((bridge) => matches(to, bridge.url));
  return frames.sort((a, b) => a.frameId - b.frameId)[0];
}

/** The bridge of the document, awaited or injected: that of a frame connects by itself, a moment after the page's. */
export async function bridgeOf(bridges: Bridges, injector: Injector, to: CallTarget): Promise<Bridge> {
  const { tabId } = to.frame;
  if (isInFrame(to)) {
    const inside = (bridge: Bridge) => bridge.tabId === tabId && matches(to, bridge.url);
    const bridge = await bridges.when(inside, injector.patienceMs);
    if (bridge !== undefined) return bridge;
  }
  return injector.ensureBridge(tabId);
}

/** The order for a document: the call frame without what only the relay and this worker need. */
export function orderOf(frame: CallFrame, plugin: PluginInfo, args: string): CallOrder {
  const { matches, excludes, world, file } = plugin;
  const { type: _, write: _write, consoleTailBytes: _tail, frames: _frames, ...rest } = frame;
  const { client: _client, title: _title, origin: _origin, follow, ...order } = rest;
  const about = { main: world === 'main', settings: frame.settings, matches, excludes, args };
  return { ...order, ...about, ...(follow === true && { follow: file }) };
}

/**
 * Whether a document has another origin than the call was permitted for. The tab may have navigated without the relay
 * knowing it yet.
 */
export const isOfOtherOrigin = ({ origin }: CallFrame, url: string): boolean =>
  origin !== undefined && (!URL.canParse(url) || new URL(url).origin !== origin);

/** Whether a plugin's patterns cover a document. One without an http address, as about:srcdoc, goes by its origin. */
export function isCovered(
  { url, origin }: Pick<Bridge, 'url' | 'origin'>,
  top: string | undefined, // origin of the page around it
  { matches, excludes }: PluginInfo,
): boolean {
  if (/^https?:/.test(url)) return urlAllowed(url, matches, excludes);
  return origin === 'null' || origin === top || urlAllowed(`${origin}/`, matches, excludes);
}
