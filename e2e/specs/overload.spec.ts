// Far more than a relay can do at once: every call is answered, with its result or with OVERLOADED, the writes of one
// client keep their order, and the relay still says how it is.

import path from 'node:path';
import { z } from 'zod';
import { type Agent, httpAgent, stdioAgent } from '../stage/agent.ts';
import type { Answer } from '../stage/answer.ts';
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
  test.setTimeout(120_000);
  const { relay, site } = await openTally(closing);
  const token = await relay.token();
  const agents: Agent[] = [];
  for (let client = 0; client < clients; client++)
    agents.push(client % 2 === 0 ? await stdioAgent(relay, closing) : await httpAgent(relay, token, closing));
  const address = (await relay.announced())?.address ?? '';
  const pulse = start(process.execPath, [
    '--import',
    'tsx',
    path.join(repository, 'e2e/stage/pulse.ts'),
    address,
    token,
  ]);
  closing.defer(() => pulse.stop('SIGKILL'));
  await expect.poll(() => pulse.printed()).toContain('beating');

  const began = performance.now();
  const answers = await Promise.all(
    agents.flatMap((agent, client) =>
      Array.from({ length: callsEach }, async (_, call) => {
        const token = `${client}-${call}`;
        const writes = call % 2 === 0;
        const answer = writes ? await agent.call('tally__write', { token }) : await agent.call('tally__read');
        return { token, writes, answer };
      }),
    ),
  );
  const seconds = (performance.now() - began) / 1000;
  process.kill(pulse.pid, 'SIGTERM');
  expect(await pulse.ended, pulse.output()).toBe(0);
  const beats = Beats.parse(JSON.parse(pulse.printed().split('\n')[1] ?? ''));

  const ends = new Map<string, number>();
  for (const { answer } of answers) ends.set(end(answer), (ends.get(end(answer)) ?? 0) + 1);
  console.log(
    `${answers.length} answers in ${seconds.toFixed(1)} s:`,
    Object.fromEntries(ends),
    Object.entries(beats)
      .map(
        ([what, times]) =>
          `${what} p50 ${quantile(times, 0.5).toFixed(1)} ms, p99 ${quantile(times, 0.99).toFixed(1)} ms, slowest ${quantile(times, 1).toFixed(1)} ms (${times.length})`,
      )
      .join('; '),
  );

  expect([...ends.keys()].sort()).toEqual(['OVERLOADED', 'result']);
  for (const { answer } of answers.filter(({ answer }) => answer.failed)) {
    expect(answer.block).toMatchObject({ retryable: true, outcome: 'not_executed' });
    expect(answer.block.retryAfterMs).toBeGreaterThan(0);
  }
  const done = answers.filter(({ writes, answer }) => writes && !answer.failed).map(({ token }) => token);
  expect([...site.arrived].sort()).toEqual(done.sort());
  for (let client = 0; client < clients; client += 2) {
    const order = site.arrived
      .filter((token) => token.startsWith(`${client}-`))
      .map((token) => Number(token.split('-')[1]));
    expect(order, `writes of client ${client}`).toEqual([...order].sort((a, b) => a - b));
  }
  expect(beats.healthz.length).toBeGreaterThan(3);
  // 50 ms is the goal; a machine that does other things at the same time gets some leeway.
  expect(quantile(beats.healthz, 0.95)).toBeLessThan(50);
  expect(quantile(beats.bridgeHealth, 0.95)).toBeLessThan(50);
});

const end = (answer: Answer): string => (answer.failed ? String(answer.code) : 'result');
