// Deploys changes, and waits until they run.

import type { JsonObject, JsonReader } from '@tabrelay/plugin-sdk/json';
import { type Flows, send, v2 } from './api.ts';
import { listen } from './comms.ts';

const startsWithin = 3000;

/** Deploys the list with one part replaced; only what changed is started anew. Answers the new revision. */
export function deploy(
  flows: Flows,
  changed: JsonObject,
  type: 'nodes' | 'flows',
  signal: AbortSignal,
): Promise<string> {
  const nodes = flows.nodes.map((node) =>
    node.string('id') === changed.id ? changed : node.object(),
  );
  const headers = { ...v2, 'Node-RED-Deployment-Type': type };
  const body = { flows: nodes, rev: flows.rev };
  const post = async () =>
    (await send('flows', { method: 'POST', headers, body }, signal)).string('rev');
  return running(flows.rev, post, signal);
}

/**
 * What the action answers, once the flows run that it deployed. The server answers when the old nodes have stopped;
 * a message sent to the new ones before they run would be lost.
 */
export async function running(
  before: string,
  action: () => Promise<string>,
  signal: AbortSignal,
): Promise<string> {
  // Without the editor's connection, such as behind a proxy that lets no WebSocket through, nothing is waited for.
  const starts = await listen('notification/runtime-deploy', signal).catch(() => undefined);
  signal.throwIfAborted();
  try {
    const answer = await action();
    if (answer === before) return answer; // Nothing was new.
    const isNew = (started: JsonReader) => started.maybe('revision')?.value !== before;
    await starts?.until((all) => all.some(isNew), startsWithin, signal);
    return answer;
  } finally {
    starts?.close();
  }
}
