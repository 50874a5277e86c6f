// A team by hand, on one machine: a gateway in one home folder, a browser in another, and an agent that reaches the
// page through both and NATS.

import { userInfo } from 'node:os';
import { OidcProvider } from '../sites/provider.ts';
import { type Agent, agentAt } from '../stage/agent.ts';
import { freePort } from '../stage/port.ts';
import { openRelay, type RelayOptions } from '../stage/relay.ts';
import { more, openPanel, questions } from '../stage/side-panel.ts';
import { atTerminal } from '../stage/terminal.ts';
import { expect, openStage, test } from '../stage/test.ts';

type Stage = Awaited<ReturnType<typeof openStage>>;

/** A gateway in the home folder of an office, with the browser of a stage as its node ann, and an agent at it. */
async function lend(
  stage: Stage,
  options: RelayOptions,
  config: Record<string, unknown> = {},
  mcp: number | undefined = undefined,
) {
  const { closing, relay } = stage;
  const office = await openRelay(closing, config, options);
  const nats = await freePort();
  mcp ??= await freePort();
  const up = atTerminal(
    office,
    closing,
    ['fleet', 'up', '--port', String(nats), '--listen', `127.0.0.1:${mcp}`, '--node', 'ann'],
    'yes\n',
  );
  await expect
    .poll(() => up.output(), { message: 'the gateway serves' })
    .toContain('Another home folder joins with');
  const key = `${office.home}/fleet/node-ann.nk`;
  await relay.person('fleet', 'join', `nats://127.0.0.1:${nats}`, '--name', 'ann', '--creds', key);
  await expect
    .poll(() => office.tabrelay('fleet', 'status'), { message: 'the node is in the directory' })
    .toMatch(/^ann +Chrome/m);
  const token = (await office.person('clients', 'add', 'claude')).trim();
  const url = `http://127.0.0.1:${mcp}/mcp`;
  const agent = await agentAt(url, token, closing);
  await expect
    .poll(() => agent.tools(), { message: 'its tools are listed' })
    .toContain('demo__counter_increment');
  return { office, up, agent, url };
}

test('a browser is lent: its owner is asked by name, allows, revokes, stops and leaves', async ({
  closing,
}) => {
  const stage = await openStage(closing, { guarded: true });
  const { office, up, agent } = await lend(stage, { guarded: true });
  const raise = (profile?: string) =>
    agent.call('demo__counter_increment', {
      name: 'fleet',
      by: 3,
      ...(profile !== undefined && { profile }),
    });
  const value = async () => (await stage.demo.counter('fleet')).value;

  const unsaid = await raise(); // the office has the same plugin
  expect(unsaid.code).toBe('VALIDATION_ERROR');
  expect(unsaid.texts.join('\n')).toContain('is on 2 nodes');

  const panel = await openPanel(stage.browser);
  const question = questions(panel);
  const first = raise('ann');
  const named = /May [a-z0-9._-]+\/claude@gateway on another machine \(“.+”, as far as it says\)/;
  await expect(question).toContainText(named);
  await more(question);
  await question.getByRole('button', { name: 'Allow for this session' }).click();
  expect((await first).failed).toBe(false);
  expect((await raise('ann')).failed).toBe(false);
  expect(await value()).toBe(6);

  await panel.getByRole('tab', { name: 'Rules' }).click();
  await panel.getByRole('button', { name: /^Revoke: .+claude@gateway may make changes/ }).click();
  await expect(panel.getByRole('button', { name: /^Revoke: .+claude@gateway/ })).toHaveCount(0);
  const again = raise('ann');
  await expect(question).toBeVisible();
  await question.getByRole('button', { name: 'Deny' }).click();
  expect((await again).code).toBe('APPROVAL_DENIED');

  await stage.relay.tabrelay('pause');
  const stopped = await raise('ann');
  expect(stopped.code).toBe('PERMISSION_DENIED');
  expect(stopped.texts.join('\n')).toContain('not_executed');
  expect(await value()).toBe(6);

  const owned = () => stage.relay.tabrelay('tabs');
  expect(await owned()).toContain('/claude@gateway');
  await agent.endSession();
  await expect.poll(owned, { message: 'what its session owned is released' }).not.toContain('@gateway');

  await stage.relay.tabrelay('fleet', 'leave');
  await expect
    .poll(() => office.tabrelay('fleet', 'status'), { message: 'the node has left the directory' })
    .not.toMatch(/^ann /m);
  await up.stop('SIGINT');
});

test('a leased browser belongs to one session at a time: the other one is told, waits, and has its turn', async ({
  closing,
}) => {
  const stage = await openStage(closing, {});
  const { relay, demo } = stage;
  await relay.tabrelay('config', 'set', 'fleet.exclusive', 'true');
  const { office, up, agent, url } = await lend(stage, {});
  for (const client of ['claude', 'codex'])
    await relay.person(
      'permit',
      'set',
      'demo',
      'auto',
      '--client',
      `${userInfo().username}/${client}@gateway`,
    );
  const codex = await agentAt(url, (await office.person('clients', 'add', 'codex')).trim(), closing);
  const raise = (by: Agent, name: string, told: string[] = []) =>
    by.call(
      'demo__counter_increment',
      { name, by: 1, profile: 'ann' },
      { onprogress: (step) => told.push(step.message ?? '') },
    );
  const status = () => relay.tabrelay('fleet', 'status');

  expect((await raise(agent, 'first')).failed).toBe(false);
  const told: string[] = [];
  const waiting = raise(codex, 'second', told);
  await expect
    .poll(() => told.join('\n'), { message: 'its client is told for whom it waits' })
    .toMatch(/^waiting for ann\/.+, which .+\/claude@gateway uses: 1 before you$/m);
  await expect.poll(status).toMatch(/\/claude@gateway .+\/codex@gateway$/m);
  expect((await demo.counter('second')).value).toBe(0);
  await agent.endSession();
  expect((await waiting).failed).toBe(false);
  expect((await demo.counter('second')).value).toBe(1);

  const [, profile] = /^(\S.*?) {2,}\S+\/codex@gateway/m.exec(await status()) ?? [];
  if (profile === undefined) throw new Error('the owner does not see the lease');
  await relay.tabrelay('fleet', 'release', profile);
  const lost = await raise(codex, 'second');
  expect(lost.code).toBe('TAB_OWNED');
  expect(lost.texts.join('\n')).toContain('not_executed');
  expect((await raise(codex, 'second')).failed).toBe(false);
  expect((await demo.counter('second')).value).toBe(2);
  await up.stop('SIGINT');
});

test("a node's process is killed amid a write: started anew it says how it ended, and gone it is unknown", async ({
  closing,
}) => {
  const stage = await openStage(closing, { trouble: true });
  const { relay, demo } = stage;
  await stage.agent.client.close(); // it would start the next relay
  const recoverMs = 15_000; // a relay and its browser are back by then
  const { agent } = await lend(stage, {}, { fleet: { gateway: { recoverMs } } });
  await relay.person('permit', 'set', 'trouble', 'auto', '--client', `${userInfo().username}/claude@gateway`);
  const killedAmid = async (name: string, ms: number) => {
    const call = agent.call('trouble__slow_increment', { name, ms, profile: 'ann' });
    call.catch(() => {}); // awaited by the test
    await expect.poll(async () => (await demo.counter(name)).asked).toBe(1);
    await stage.page.evaluate(() => fetch('/').then(() => undefined)); // the page has heard what the site answered
    await relay.stop('SIGKILL');
    return { call };
  };

  const back = await killedAmid('back', 3000);
  await relay.start();
  expect((await back.call).value).toMatchObject({ asked: 1 });
  // The demo site restarted with the relay and counts from zero: anything done again would show.
  expect((await demo.counter('back')).asked).toBe(0);

  const gone = await (await killedAmid('gone', 30_000)).call;
  expect(gone.code, gone.texts.join('\n')).toBe('EXTENSION_LOST');
  expect(gone.texts.join('\n')).toContain('"outcome":"unknown"');
  const unheard = await agent.call('demo__counter_increment', { name: 'unheard', profile: 'ann' });
  expect(unheard.code).toBe('PROFILE_NOT_CONNECTED');
  expect(unheard.texts.join('\n')).toContain('not_executed');
  await relay.start();
  await expect.poll(() => relay.browsers(), { message: 'the browser is back' }).toBe(1);
  expect((await demo.counter('gone')).asked).toBe(0);
  expect((await demo.counter('unheard')).asked).toBe(0);
});

test('people sign in with a provider: the official client finds it, and owners are asked in their name', async ({
  closing,
}) => {
  const stage = await openStage(closing, { guarded: true });
  const port = await freePort();
  const url = `http://127.0.0.1:${port}/mcp`;
  const document = 'https://claude.example/client.json';
  const provider = await OidcProvider.open(closing, url, document);
  const signIn = { issuer: provider.issuer, resource: url, people: { Dave: 'dave' } };
  const { up } = await lend(stage, { guarded: true }, { fleet: { gateway: { signIn } } }, port);
  const raise = (agent: Agent) =>
    agent.call('demo__counter_increment', { name: 'people', by: 2, profile: 'ann' });
  const panel = await openPanel(stage.browser);
  const question = questions(panel);
  const asks = async (agent: Agent, name: RegExp) => {
    const call = raise(agent);
    await expect(question).toContainText(name);
    await more(question);
    await question.getByRole('button', { name: 'Allow once' }).click();
    expect((await call).failed).toBe(false);
  };

  const leaves = async (agent: Agent) => {
    await agent.endSession();
    await expect
      .poll(() => stage.relay.tabrelay('tabs'), { message: 'its tab is released' })
      .not.toContain('@gateway');
  };

  const dave = await provider.connect(url, closing, stage.browser, 'Dave', { document });
  await asks(dave.agent, /May dave\/claude\.example-[0-9a-f]{16}@gateway on another machine/);
  await leaves(dave.agent);
  const registered = await provider.connect(url, closing, stage.browser, 'erin');
  await asks(registered.agent, /May erin\/client-[0-9a-f]{16}@gateway on another machine/);
  await leaves(registered.agent);
  const carol = await provider.connect(url, closing, stage.browser, 'carol', { known: 'codex' });
  await asks(carol.agent, /May carol\/codex@gateway on another machine/);

  // A token that does not hold any more is replaced by the client, which goes on in its session.
  const held = carol.signIn.held;
  if (held === undefined) throw new Error('the client has no token');
  const [head, body] = held.access_token.split('.');
  carol.signIn.held = { ...held, access_token: `${head}.${body}.AAAA` };
  await asks(carol.agent, /May carol\/codex@gateway/);
  expect(carol.signIn.held.access_token).not.toContain('.AAAA');
  expect((await stage.demo.counter('people')).value).toBe(8);

  // The gateway has no name for this person, and says to whom that is to be told.
  await expect(provider.connect(url, closing, stage.browser, 'Mallory', { known: 'codex' })).rejects.toThrow(
    /no name for the person .*Mallory.*fleet\.gateway\.signIn\.people/s,
  );
  await up.stop('SIGINT');
});
