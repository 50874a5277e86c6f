// A tool may report progress several times and answer at once. Whatever the client, the transport and the era, every
// message arrives, on its own call, before the result.

import { type Agent, httpAgent, stdioAgent } from '../stage/agent.ts';
import type { Closing } from '../stage/closing.ts';
import { type Era, openClient2, type Transport } from '../stage/modern.ts';
import { type TallyStage, test } from '../stage/tally.ts';
import { expect } from '../stage/test.ts';

const calls = 1000;
const together = 4;
const steps = [1, 2, 3, 4, 5];

interface Progress {
  progress: number;
  message?: string | undefined;
}

/** Makes one call and returns what it answered. */
type Caller = (call: number, onprogress: (progress: Progress) => void) => Promise<unknown>;

const first =
  (open: (stage: TallyStage, closing: Closing) => Promise<Agent>) =>
  async (stage: TallyStage, closing: Closing): Promise<Caller> => {
    const { client } = await open(stage, closing);
    return async (call, onprogress) => {
      const params = { name: 'tally__burst', arguments: { call, steps: steps.length } };
      return (await client.callTool(params, undefined, { onprogress })).structuredContent;
    };
  };

const second =
  (transport: Transport, era: Era) =>
  async ({ relay }: TallyStage, closing: Closing): Promise<Caller> => {
    const client = await openClient2(relay, transport, era, closing);
    return async (call, onprogress) => {
      const params = { name: 'tally__burst', arguments: { call, steps: steps.length } };
      return (await client.callTool(params, { onprogress })).structuredContent;
    };
  };

const clients: Record<string, (stage: TallyStage, closing: Closing) => Promise<Caller>> = {
  'SDK 1, stdio': first(({ relay }, closing) => stdioAgent(relay, closing)),
  'SDK 1, HTTP': first(async ({ relay }, closing) => httpAgent(relay, await relay.token(), closing)),
  'client 2, stdio, legacy': second('stdio', 'legacy'),
  'client 2, stdio, modern': second('stdio', 'modern'),
  'client 2, HTTP, legacy': second('HTTP', 'legacy'),
  'client 2, HTTP, modern': second('HTTP', 'modern'),
};

for (const [name, open] of Object.entries(clients)) {
  test(`${calls} calls with a burst of progress: ${name}`, async ({ tally, closing }) => {
    const ask = await open(tally, closing);
    const incomplete: unknown[] = [];
    let next = 0;
    const began = performance.now();
    const worker = async () => {
      for (let call = next++; call < calls; call = next++) {
        const seen: Progress[] = [];
        let answered = false;
        const result = await ask(call, (progress) => {
          if (!answered) seen.push(progress);
        });
        answered = true;
        const own = seen.every(({ message }) => message === `call ${call}`);
        const whole = seen.map(({ progress }) => progress).join() === steps.join();
        if (!own || !whole) incomplete.push({ call, seen });
        expect(result).toEqual({ call });
      }
    };
    await Promise.all(Array.from({ length: together }, worker));
    const rate = (calls * 1000) / (performance.now() - began);
    console.log(`${name}: ${rate.toFixed(0)} calls/s, ${incomplete.length} not whole`);
    expect(incomplete).toEqual([]);
  });
}
