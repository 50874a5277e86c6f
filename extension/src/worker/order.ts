// What of a call goes into the page.
import type { Order } from '../page/order.ts';
import type { CallFrame, PluginInfo } from '../protocol/frames.generated.ts';

/** The order for a document. What only the relay and this worker need stays outside of it. */
export function orderOf(frame: CallFrame, { matches, excludes }: PluginInfo, args: string): Order {
  const { type: _, write: _write, consoleTailBytes: _tail, frames: _frames, ...rest } = frame;
  const { client: _client, title: _title, ...order } = rest;
  return { ...order, settings: frame.settings, matches, excludes, args };
}
