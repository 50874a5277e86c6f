// An agent that is a program: it speaks the Agent Client Protocol, is made of its official SDK, and calls the tools
// of the relay through the MCP server that it is given.

import path from 'node:path';
import { z } from 'zod';
import type { Agent } from '../stage/agent.ts';
import { delegate, endOf, failureOf } from '../stage/errands.ts';
import { repository } from '../stage/paths.ts';
import { expect, type Stage, test } from '../stage/test.ts';

const program = path.join(repository, 'e2e/workers/acp.ts');

const worker = (...args: string[]) => ({
  command: process.execPath,
  args: ['--import', import.meta.resolve('tsx'), program, ...args],
  capabilities: ['lines'],
});

// Everything of the demo runs without a question but raising a counter slowly; that asks the person.
test.use({
  groundOptions: {
    guarded: true,
    trouble: true,
    config: {
      workers: { lines: worker(), web: worker('http') },
      permissions: { demo: 'auto', trouble: 'auto', trouble__slow_increment: 'ask' },
    },
  },
});

for (const id of ['lines', 'web']) {
  test(`the program ${id} is given the tools of its client, and calls one`, async ({
    sharedStage: stage,
  }) => {
    const { agent, demo } = stage;
    const name = `acp ${id}`;
    const discovered = await agent.call('agents_discover', { capability: 'lines' });
    expect(discovered.value).toMatchObject({ agents: [{ id: 'lines' }, { id: 'web' }] });
    const heard: string[] = [];
    const prompt = ['tools', `demo__counter_increment {"name":"${name}"}`, 'tasks_delegate__ {}', 'done'];
    const onprogress = ({ message = '' }) => void heard.push(message);
    const end = endOf(await delegate(agent, { agentId: id, prompt: prompt.join('\n') }, { onprogress }));
    expect(end).toMatchObject({ success: true, agentId: id, stopReason: 'end_turn' });
    expect(end.text).toContain('demo__counter_read');
    expect(end.text).not.toMatch(/\btasks_delegate\b.*demo__/s);
    expect(end.text).toContain('"asked":1');
    expect(end.toolCalls).toMatchObject([{ tool: 'demo__counter_increment', ok: true, writes: true }]);
    expect((await demo.counter(name)).asked).toBe(1);
    expect(heard.join('\n')).toContain('demo__counter_increment');
  });
}

test('the program is bound as every delegated agent is', async ({ sharedStage: stage }) => {
  const prompt = ['demo__counter_increment {"name":"bound"}', 'demo__counter_read {"name":"bound"}'].join(
    '\n',
  );
  const end = endOf(await delegate(stage.agent, { agentId: 'lines', prompt, metadata: { readOnly: true } }));
  expect(end.toolCalls.map(({ tool, ok }) => [tool, ok])).toEqual([
    ['demo__counter_increment', false],
    ['demo__counter_read', true],
  ]);
  expect((await stage.demo.counter('bound')).asked).toBe(0);
});

const Pending = z.object({ approvals: z.array(z.looseObject({ id: z.string(), tool: z.string() })) });

async function question({ relay }: Stage): Promise<{ id: string; printed: string }> {
  const waiting = async () =>
    Pending.parse(JSON.parse(await relay.tabrelay('permit', 'pending', '--json'))).approvals;
  await expect.poll(waiting).toHaveLength(1);
  const [asked] = await waiting();
  return { id: asked?.id ?? '', printed: await relay.tabrelay('permit', 'pending') };
}

test('what the program wants to do by itself asks the person', async ({ sharedStage: stage }) => {
  const answer = delegate(stage.agent, { agentId: 'lines', prompt: 'may remove the old files' });
  const { id, printed } = await question(stage);
  for (const words of ['lines', 'stdio', 'remove the old files']) expect(printed).toContain(words);
  await stage.relay.tabrelay('permit', 'deny', id);
  expect(endOf(await answer).text).toBe('no\n');

  const again = delegate(stage.agent, { agentId: 'lines', prompt: 'may remove the old files' });
  await stage.relay.person('permit', 'allow', (await question(stage)).id);
  expect(endOf(await again).text).toBe('yes\n');
});

/** The process of a worker. */
async function pidOf(agent: Agent, agentId: string): Promise<number> {
  return Number(endOf(await delegate(agent, { agentId, prompt: 'pid' })).text);
}

test('a program that is killed amid a prompt is started again, and the client hears the truth', async ({
  sharedStage: stage,
}) => {
  const { agent, demo } = stage;
  const first = await pidOf(agent, 'lines');
  const prompt =
    'demo__counter_increment {"name":"killed"}\ntrouble__slow {"ms":60000,"steps":600,"note":"killed"}';
  const answer = delegate(agent, { agentId: 'lines', prompt });
  await demo.notes('killed', 1);
  process.kill(first, 'SIGKILL');
  const failure = failureOf(await answer);
  expect(failure.data).toMatchObject({ type: 'UPSTREAM', sessionValid: false });
  expect(failure.error).toContain('lines');
  expect(failure.data.toolCalls).toMatchObject([
    { tool: 'demo__counter_increment', ok: true },
    { tool: 'trouble__slow', ok: false },
  ]);
  // What it was doing in the page ended with it.
  expect((await demo.notes('killed', 2))[1]?.text).toBe('aborted');
  expect((await demo.counter('killed')).asked).toBe(1);
  const second = await pidOf(agent, 'lines');
  expect(second).not.toBe(first);
});

test('a prompt of the program is cancelled, and so is what it does in the page', async ({
  sharedStage: stage,
}) => {
  const { agent, demo } = stage;
  const created = await agent.call('sessions_create', { agentId: 'lines' });
  const { sessionId } = z.object({ sessionId: z.string() }).parse(created.value);
  const prompt =
    'trouble__slow {"ms":60000,"steps":600,"note":"acp cancelled"}\ndemo__counter_increment {"name":"after"}';
  const answer = agent.call('sessions_prompt', { sessionId, prompt });
  await demo.notes('acp cancelled', 1);
  expect((await agent.call('sessions_cancel', { sessionId })).value).toEqual({ cancelled: true, sessionId });
  expect(endOf(await answer)).toMatchObject({ stopReason: 'cancelled' });
  expect((await demo.notes('acp cancelled', 2))[1]?.text).toBe('aborted');
  expect((await demo.counter('after')).asked).toBe(0);
});
