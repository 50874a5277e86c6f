// Presses the button of an inject node.

import * as s from '@tabrelay/plugin-sdk/schema';
import { order } from './api.ts';

export async function inject(node: string, payload: unknown, signal: AbortSignal): Promise<void> {
  const missing =
    `There is no deployed node "${node}". ` +
    'search_nodes with type "inject" shows the existing ones; a disabled one cannot be triggered.';
  // What the editor sends when a person triggers a node with values of their own.
  const properties = [{ p: 'payload', v: JSON.stringify(payload), vt: 'json' }];
  const body = payload === undefined ? {} : { __user_inject_props__: properties };
  const sent = { method: 'POST', body, missing };
  await order(`inject/${encodeURIComponent(node)}`, sent, { status: 200, text: 'OK' }, signal);
}

/** JSON Schema of what to send. */
export const payloadInput = {
  anyOf: [
    s.string(),
    s.number(),
    s.boolean(),
    { type: 'object' },
    { type: 'array' },
    { type: 'null' },
  ],
  description: 'Any JSON value to send as msg.payload. Default: what the node is set to.',
} as const;
