// What of a call goes into the page.
import type { Order } from '../page/order.ts';
import type { CallFrame, PluginInfo } from '../protocol/frames.generated.ts';

/** The order for a document. What only the relay and this worker need stays outside of it. */
export function orderOf(frame: CallFrame, { matches, excludes, world }: PluginInfo, args: string): Order {
  const { type: _, write: _write, consoleTailBytes: _tail, frames: _frames, ...rest } = frame;
  const { client: _client, title: _title, origin: _origin, ...order } = rest;
  return { ...order, main: world === 'main', settings: frame.settings, matches, excludes, args };
}

/**
 * Whether a document is of another origin than the call is for: what a person allowed on one is not done on another, also
 * when the relay does not know yet where the tab went.
 */
export const isElsewhere = ({ origin }: CallFrame, url: string): boolean =>
  origin !== undefined && new URL(url).origin !== origin;
