// What agents may do, decided by rules, by a person in a terminal, and by one in front of the agent's own client. The
// side panel has a test of its own: panel-approvals.

import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { type Agent, stdioAgent } from '../stage/agent.ts';
import type { Answer } from '../stage/answer.ts';
import { askedAgent, picks } from '../stage/asked-agent.ts';
import { binary } from '../stage/paths.ts';
import { start } from '../stage/process.ts';
import type { Relay } from '../stage/relay.ts';
import { atTerminal } from '../stage/terminal.ts';
import { expect, openStage, type Stage, type StageOptions, test, visit } from '../stage/test.ts';

const Pending = z.object({
  approvals: z.array(
    z.object({
      id: z.string(),
      tool: z.string(),
      origin: z.string(),
      client: z.string(),
      changes: z.string(),
    }),
  ),
});

const pending = async (relay: Relay) =>
  Pending.parse(JSON.parse(await relay.tabrelay('permit', 'pending', '--json'))).approvals;

/** The one question that waits, once it does. */
async function question(relay: Relay) {
  let waiting: Awaited<ReturnType<typeof pending>> = [];
  const look = async () => {
    waiting = await pending(relay);
    return waiting.length;
  };
  await expect.poll(look, { message: 'a question waits' }).toBe(1);
  const [only] = waiting;
  if (only === undefined) throw new Error('there is no question');
  return only;
}

/** A person at a terminal says something about the question; resolves with the exit code and what they read. */
async function says(
  { relay, closing }: Stage,
  ...words: string[]
): Promise<{ code: number; output: string }> {
  const program = atTerminal(relay, closing, ['permit', ...words], 'yes\n');
  return { code: await program.ended, output: program.output() };
}

const guarded = (
  closing: Stage['closing'],
  config: StageOptions['config'] = { permissions: { demo: 'ask' } },
  more: StageOptions = {},
) => openStage(closing, { guarded: true, config, ...more });

const raise = (agent: Agent, by: number, heard: string[] = []): Promise<Answer> =>
  agent.call(
    'demo__counter_increment',
    { name: 'permit', by },
    { onprogress: ({ message }) => void heard.push(message ?? '') },
  );

const value = async ({ demo }: Stage): Promise<number> => (await demo.counter('permit')).value;

test('a person who configured nothing is asked', async ({ closing }) => {
  const stage = await guarded(closing, {});
  const { agent, relay, demo } = stage;
  const tools = await (await stdioAgent(relay, closing, ['--toolset', 'all'])).tools();
  expect(tools).toContain('browser__read');
  expect(tools).toContain('mediawiki__read_page');
  expect(tools).toContain('mediawiki__edit_page');
  expect((await agent.call('demo__hello')).failed).toBe(false); // the demo needs no permission

  const heard: string[] = [];
  const reading = agent.call(
    'browser__read',
    { what: 'text' },
    { onprogress: ({ message }) => void heard.push(message ?? '') },
  );
  const asked = await question(relay);
  expect(asked).toMatchObject({ tool: 'browser__read', origin: demo.url });
  expect(asked.changes).toMatch(/^It only reads\./);
  await expect.poll(() => heard.at(-1)).toMatch(/^Waiting for the person to allow .* \(\d+ s left\)$/);

  await expect(relay.tabrelay('permit', 'allow', asked.id), 'an agent in a shell answers').rejects.toThrow(
    'there is no terminal here to confirm it in',
  );
  expect(await says(stage, 'allow', asked.id)).toMatchObject({ code: 0 });
  expect((await reading).failed).toBe(false);
  expect((await agent.call('browser__read', { what: 'text' })).failed).toBe(false);
  expect(await relay.tabrelay('permit', 'list')).toMatch(/MAY[\s\S]*read pages on http:.*127/);

  // What is allowed for the session is for this site only.
  await visit(stage, demo.url.replace('127.0.0.1', 'localhost'));
  const elsewhere = agent.call('browser__read', { what: 'text' });
  const again = await question(relay);
  expect(again.origin).toContain('localhost');
  expect((await says(stage, 'deny', again.id)).code).toBe(0);
  expect((await elsewhere).text).toMatch(/^\[ERROR code=APPROVAL_DENIED /);
});

test('once is once, a session is a session, and always is a rule', async ({ closing }) => {
  const stage = await guarded(closing, { permissions: { demo: 'ask', trouble: 'ask' } }, { trouble: true });
  const { agent, relay } = stage;
  for (const [how, by] of [
    ['once', 1],
    ['session', 10],
  ] as const) {
    const call = raise(agent, by);
    expect((await says(stage, 'allow', (await question(relay)).id, '--for', how)).code).toBe(0);
    expect((await call).failed).toBe(false);
  }
  expect((await raise(agent, 100)).failed).toBe(false);
  expect(await value(stage)).toBe(111);

  const call = agent.call('trouble__slow_increment', { name: 'permit', ms: 0 }); // the session is for one tool
  const asked = await question(relay);
  expect((await says(stage, 'allow', asked.id, '--for', 'always')).code).toBe(0);
  expect((await call).failed).toBe(false);
  const late = await says(stage, 'deny', asked.id);
  expect(late).toMatchObject({ code: 1 });
  expect(late.output).toContain('too late and has no effect');
  expect(await relay.tabrelay('permit', 'list')).toMatch(
    /trouble__slow_increment@http:\S+ +\S+ +auto +never expires +person/,
  );
});

test('a call from a terminal says where else to answer, and how its question ended', async ({ closing }) => {
  const stage = await guarded(closing);
  const { relay } = stage;
  const call = atTerminal(relay, closing, ['call', 'demo__counter_increment', '{"name":"permit","by":1}']);
  await expect.poll(() => call.output()).toContain("You can also answer in tabrelay's side panel");
  expect(await says(stage, 'allow', (await question(relay)).id)).toMatchObject({ code: 0 });
  expect(await call.ended, call.output()).toBe(0);
  expect(call.output()).toContain('The question is closed: it was allowed in a terminal.');
  expect(await value(stage)).toBe(1);
});

test('a call without a terminal says at once that a person is asked, and where', async ({ closing }) => {
  const stage = await guarded(closing);
  const { relay } = stage;
  const call = start(binary, ['call', 'demo__counter_increment', '{"name":"permit","by":1}'], relay.env);
  closing.defer(() => call.stop());
  await expect
    .poll(() => call.output())
    .toMatch(/^The person is asked: May .*\? They answer in tabrelay's side panel/);
  const { id } = await question(relay);
  expect(call.output()).toContain(`tabrelay permit allow ${id}\n`);
  expect(await says(stage, 'allow', id)).toMatchObject({ code: 0 });
  expect(await call.ended, call.output()).toBe(0);
  expect(JSON.parse(call.printed())).toMatchObject({ value: 1 });
});

test('nobody answers in time; the answer that comes later does nothing', async ({ closing }) => {
  const stage = await guarded(closing, { permissions: { demo: 'ask' }, approvals: { timeoutMs: 2000 } });
  const { agent, relay } = stage;
  const answer = await raise(agent, 1);
  const id = /"approval": ?"(\w+)"/.exec(await relay.tabrelay('events', '--json'))?.[1] ?? 'none was asked';
  expect(answer.text).toMatch(/^\[ERROR code=APPROVAL_TIMEOUT .*retryable=true outcome=not_executed\]/);
  expect(answer.text).toContain('tabrelay permit pending');
  const late = await says(stage, 'allow', id, '--for', 'always');
  expect(late.code).toBe(1);
  expect(late.output).toContain('nobody answered in time');
  expect(await value(stage)).toBe(0);
  expect(await relay.tabrelay('permit', 'list')).not.toMatch(/counter_increment.* person/);
});

test('a client with elicitation asks its person, and the first answer counts', async ({ closing }) => {
  const stage = await guarded(closing);
  const questions: string[] = [];
  let answer = picks('Allow once');
  let slow: Promise<unknown> | undefined;
  const agent = await askedAgent(stage.relay, closing, async (text) => {
    questions.push(text);
    await slow;
    return answer;
  });
  expect((await raise(agent, 1)).failed).toBe(false);
  for (const words of ['demo__counter_increment', stage.demo.url, 'It adds something', 'by: 1'])
    expect(questions[0]).toContain(words);

  answer = { action: 'decline' };
  expect((await raise(agent, 1)).text).toMatch(/^\[ERROR code=APPROVAL_DENIED /);

  slow = new Promise(() => {}); // the client never answers; the terminal does
  const call = raise(agent, 10);
  expect((await says(stage, 'allow', (await question(stage.relay)).id)).code).toBe(0);
  expect((await call).failed).toBe(false);

  slow = undefined;
  answer = picks('Allow for this session');
  expect((await raise(agent, 100)).failed).toBe(false);
  expect((await raise(agent, 1000)).failed).toBe(false);
  expect(questions).toHaveLength(4);
  expect(await value(stage)).toBe(1111);
});

test('what is switched off disappears from the list, and comes back', async ({ closing }) => {
  const { agent, relay } = await guarded(closing);
  // What an agent knows that lists the tools when it hears that they changed.
  let listed = agent.tools();
  agent.client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    listed = agent.tools();
  });
  const known = async () => (await listed).filter((name) => name.startsWith('demo__'));
  expect(await known()).toContain('demo__hello');
  await relay.tabrelay('permit', 'set', 'demo', 'off');
  await expect.poll(known).toEqual([]);
  await relay.person('permit', 'set', 'demo__hello', 'auto');
  await expect.poll(known).toEqual(['demo__hello']);
  expect((await agent.call('demo__hello', { name: 'Ada' })).failed).toBe(false);
  await relay.tabrelay('permit', 'set', 'demo__hello', 'auto', '--for', '1s');
  await expect.poll(known, { message: 'the rule ends by itself' }).toEqual([]);
  await relay.person('permit', 'unset', 'demo');
  await expect.poll(known).toContain('demo__hello');
  await expect(relay.tabrelay('permit', 'set', 'demo__helo', 'off')).rejects.toThrow(
    'did you mean demo__hello?',
  );
});

test('one command stops everything, and a restart does not undo it', async ({ closing }) => {
  const stage = await guarded(closing, { permissions: { default: 'auto' } }, { trouble: true });
  const { agent, relay } = stage;
  const running = agent.call('trouble__slow', { ms: 60_000, steps: 600 });
  await expect.poll(async () => await relay.tabrelay('status')).not.toContain('paused');
  await relay.tabrelay('pause');
  const stopped = await running;
  expect(stopped.text).toMatch(/^\[ERROR code=(CANCELLED|PERMISSION_DENIED) /);
  expect((await raise(agent, 1)).text).toContain('The person has stopped all agents');
  await agent.client.close(); // it would start the next relay itself
  await relay.down();
  await relay.start();
  expect(await relay.tabrelay('status')).toContain('paused');
  await relay.person('resume');
  const next = await stdioAgent(relay, closing);
  await expect.poll(async () => (await raise(next, 1)).failed).toBe(false);
});
