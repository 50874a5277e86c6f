// Far more than a relay can do at once: every call is answered, with its result or with OVERLOADED, the writes of one
// client keep their order, and the relay still says how it is.

import path from 'node:path';
import { z } from 'zod';
import { type Agent, httpAgent, stdioAgent } from '../stage/agent.ts';
import type { Answer } from '../stage/answer.ts';
import type { Closing } from '../stage/closing.ts';
import { repository } from '../stage/paths.ts';
import { start } from '../stage/process.ts';
import { openTally } from '../stage/tally.ts';
import { expect, test } from '../stage/test.ts';

const clients = 20; // half of them over stdio, where the order of calls is a fact
const callsEach = 100;

const Beats = z.object({ healthz: z.array(z.number()), bridgeHealth: z.array(z.number()) });

const quantile = (times: readonly number[], q: number): number =>
  [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(times.length * q))] ?? Number.NaN;

test(`${clients * callsEach} calls at once from ${clients} clients to one tab`, async ({ closing }) => {
  test.setTimeout(300_000);
  const { relay, site } = await openTally(closing);
  const token = await relay.token();
  const agents: Agent[] = [];
  for (let client = 0; client < clients; client++)
    agents.push(client % 2 === 0 ? await stdioAgent(relay, closing) : await httpAgent(relay, token, closing));
  const address = (await relay.announced())?.address ?? '';

  const pulse = await feelPulse(address, token, closing);
  const began = performance.now();
  const answers = await callAll(agents);
  const seconds = (performance.now() - began) / 1000;
  const beats = await pulse(); // every question about its health was answered
  const ends = new Map<string, number>();
  for (const { answer } of answers) ends.set(end(answer), (ends.get(end(answer)) ?? 0) + 1);
  console.log(
    `${answers.length} answers in ${seconds.toFixed(1)} s:`,
    Object.fromEntries(ends),
    Object.entries(beats)
      .map(([what, times]) => `${what} ${describe(times)}`)
      .join('; '),
  );
  expect([...ends.keys()].sort()).toEqual(['OVERLOADED', 'result']);
  expectTrue(answers, site.arrived);
  expect(beats.healthz.length).toBeGreaterThan(3);
  expect(beats.bridgeHealth.length).toBeGreaterThan(3);
});

interface Called {
  token: string;
  writes: boolean;
  answer: Answer;
}

/** Every client makes all its calls at once. */
function callAll(agents: readonly Agent[]): Promise<Called[]> {
  return Promise.all(
    agents.flatMap((agent, client) =>
      Array.from({ length: callsEach }, async (_, call) => {
        const token = `${client}-${call}`;
        const writes = call % 2 === 0;
        const answer = writes ? await agent.call('tally__write', { token }) : await agent.call('tally__read');
        return { token, writes, answer };
      }),
    ),
  );
}

/** What was refused was not done, what was done was done once, and the writes of a client kept their order. */
function expectTrue(answers: readonly Called[], arrived: readonly string[]): void {
  for (const { answer } of answers.filter(({ answer }) => answer.failed)) {
    expect(answer.block).toMatchObject({ retryable: true, outcome: 'not_executed' });
    expect(answer.block.retryAfterMs).toBeGreaterThan(0);
  }
  const done = answers.filter(({ writes, answer }) => writes && !answer.failed).map(({ token }) => token);
  expect([...arrived].sort()).toEqual(done.sort());
  for (let client = 0; client < clients; client += 2) {
    const order = arrived
      .filter((token) => token.startsWith(`${client}-`))
      .map((token) => Number(token.split('-')[1]));
    expect(order, `writes of client ${client}`).toEqual([...order].sort((a, b) => a - b));
  }
}

/** Feels the pulse of a relay from a process of its own, until the function that is returned is called. */
async function feelPulse(address: string, token: string, closing: Closing) {
  const file = path.join(repository, 'e2e/stage/pulse.ts');
  const pulse = start(process.execPath, ['--import', 'tsx', file, address, token]);
  closing.defer(() => pulse.stop('SIGKILL'));
  await expect.poll(() => pulse.printed()).toContain('beating');
  return async () => {
    process.kill(pulse.pid, 'SIGTERM');
    expect(await pulse.ended, pulse.output()).toBe(0);
    return Beats.parse(JSON.parse(pulse.printed().split('\n')[1] ?? ''));
  };
}

const describe = (times: readonly number[]): string =>
  `p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms, slowest ${quantile(times, 1).toFixed(1)} ms (${times.length})`;

const end = (answer: Answer): string => (answer.failed ? String(answer.code) : 'result');
