// Serves a fresh application until it is interrupted: for trying things by hand, and for recording an adapter's tapes.
//   npx tsx e2e/sites/serve.ts prometheus

import { Closing } from '../stage/closing.ts';
import { openNodeRed } from './node-red.ts';
import { openPocketBase } from './pocketbase.ts';
import { openPrometheus } from './prometheus.ts';

const applications: Record<string, (closing: Closing) => Promise<{ url: string }>> = {
  'node-red': openNodeRed,
  pocketbase: openPocketBase,
  prometheus: openPrometheus,
};

const closing = new Closing();
const open = applications[process.argv[2] ?? ''];
if (open === undefined) throw new Error(`which one? ${Object.keys(applications).join(', ')}`);
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => void closing.close());
console.log((await open(closing)).url);
