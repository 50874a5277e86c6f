// Clients: each has a token, a name and a scope; the person bounds, ends and sees them while they work.

import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { type Agent, httpAgent, stdioAgent } from '../stage/agent.ts';
import type { Answer } from '../stage/answer.ts';
import { openClient2 } from '../stage/modern.ts';
import type { Relay } from '../stage/relay.ts';
import { expect, type Stage, test } from '../stage/test.ts';

/** Makes a client with a token of its own. */
async function added(relay: Relay, name: string, ...flags: string[]): Promise<string> {
  return (await relay.person('clients', 'add', name, ...flags)).trim();
}

/** Counts how often an agent is told that its tools are others. */
function changes(agent: Agent): () => number {
  let count = 0;
  agent.client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    count++;
  });
  return () => count;
}

const Running = z.object({
  calls: z.array(z.object({ id: z.string(), client: z.string(), tool: z.string(), state: z.string() })),
});

async function running(relay: Relay) {
  return Running.parse(await relay.asPerson('GET', '/api/v1/running')).calls;
}

/**
 * Whether a call came to nothing: refused by the transport over HTTP, answered with a failure by the stdio proxy on
 * stdio.
 */
async function fails(call: Promise<Answer>): Promise<boolean> {
  return call.then(
    (answer) => answer.failed,
    () => true,
  );
}

const ways = {
  stdio: (stage: Stage, token: string) =>
    stdioAgent(stage.relay, stage.closing, [], { TABRELAY_TOKEN: token }),
  HTTP: (stage: Stage, token: string) => httpAgent(stage.relay, token, stage.closing),
};

for (const [way, open] of Object.entries(ways)) {
  test(`over ${way}, two clients with different scopes see different tools, and one is revoked in the middle`, async ({
    stage,
  }) => {
    const { relay } = stage;
    const reader = await open(stage, await added(relay, 'reader', '--read-only', '--plugins', 'demo'));
    const writer = await open(stage, await added(relay, 'writer', '--plugins', 'demo,trouble,browser'));
    const told = changes(reader);

    expect(await reader.tools()).toEqual(expect.arrayContaining(['demo__counter_read', 'bridge_health']));
    expect(await reader.tools()).not.toContain('demo__counter_increment');
    expect(await reader.tools()).not.toContain('browser__list_tabs');
    expect(await writer.tools()).toEqual(
      expect.arrayContaining(['demo__counter_read', 'demo__counter_increment', 'browser__open_tab']),
    );

    const refused = await reader.call('demo__counter_increment', { name: way });
    expect(refused.code).toBe('PERMISSION_DENIED');
    expect(refused.text).toContain('outside the scope of the client reader');
    expect((await writer.call('demo__counter_increment', { name: way })).failed).toBe(false);
    expect((await reader.call('demo__counter_read', { name: way })).value).toMatchObject({ asked: 1 });

    // The writer is revoked while it writes; the reader does not notice.
    const write = writer.call('trouble__slow_increment', { name: way, ms: 20_000, note: way });
    write.catch(() => {}); // it is awaited below
    await stage.demo.notes(way, 1);
    await expect
      .poll(async () => (await running(relay)).map((call) => [call.client, call.tool, call.state]))
      .toEqual([['writer', 'trouble__slow_increment', 'running']]);
    await relay.tabrelay('clients', 'revoke', 'writer');
    expect(await fails(write)).toBe(true);
    const [, stopped] = await stage.demo.notes(way, 2);
    expect(stopped?.text).toBe('aborted');
    await expect.poll(() => running(relay)).toEqual([]);
    expect(await fails(writer.call('demo__counter_read', { name: way }))).toBe(true);
    expect((await reader.call('demo__counter_read', { name: way })).failed).toBe(false);

    // The person lets the reader write; it hears of it, and needs no new token.
    await expect.poll(told, { message: 'views are others since the writer is gone' }).toBeGreaterThan(0);
    const before = told();
    await relay.person('clients', 'scope', 'reader', '--read-only=false');
    await expect.poll(told).toBeGreaterThan(before);
    await expect.poll(() => reader.tools()).toContain('demo__counter_increment');
    expect((await reader.call('demo__counter_increment', { name: way })).failed).toBe(false);
  });
}

test('in the era of 2026-07-28 too, a scope bounds what is listed and called', async ({ stage }) => {
  const token = await added(stage.relay, 'modern', '--toolset', 'gateway', '--read-only');
  const client = await openClient2(stage.relay, 'HTTP', 'modern', stage.closing, { token });
  const names = (await client.listTools()).tools.map((tool) => tool.name);
  expect(names).toContain('relay__call_tool');
  expect(names).not.toContain('demo__hello');
  const read = await client.callTool({
    name: 'relay__call_tool',
    arguments: { name: 'demo__counter_read', arguments: { name: 'm' } },
  });
  expect(read.isError ?? false).toBe(false);
  const write = await client.callTool({
    name: 'relay__call_tool',
    arguments: { name: 'demo__counter_increment', arguments: { name: 'm' } },
  });
  expect(JSON.stringify(write)).toContain('outside the scope');
});

test('the person ends a call: the page stops, and the agent hears who ended it', async ({ stage }) => {
  const { relay, agent } = stage;
  const call = agent.call('trouble__slow_increment', { name: 'p', ms: 30_000, note: 'p' });
  await stage.demo.notes('p', 1);
  const [seen] = await running(relay);
  await relay.asPerson('DELETE', `/api/v1/running/${seen?.id}`);
  const answer = await call;
  expect(answer.code).toBe('CANCELLED');
  expect(answer.text).toContain('The person cancelled the call');
  const [, stopped] = await stage.demo.notes('p', 2);
  expect(stopped?.text).toBe('aborted');
  await expect.poll(() => running(relay)).toEqual([]);
});
