// A plugin that says how to know that a person is signed in; waiting for it, and the words when nobody is, are ours.

import { openNotebook } from '../sites/notebook.ts';
import { testPlugin } from '../stage/plugin.ts';
import { expect, openStage, test, visit } from '../stage/test.ts';

test('tools wait for a session, and say where to sign in when there is none', async ({ closing }) => {
  const site = await openNotebook(closing);
  const stage = await openStage(closing);
  const { agent, relay } = stage;
  await relay.tabrelay('plugin', 'add', await testPlugin('signed-in', site, closing));

  await visit(stage, `${site}/late`);
  expect((await agent.call('signed-in__who_am_i')).value).toEqual({
    user: 'ada',
    top: true,
    settings: { limit: 5 },
  });

  await visit(stage, `${site}/signed-out`);
  const refused = await agent.call('signed-in__who_am_i');
  expect(refused.block).toMatchObject({ code: 'AUTH_ERROR', category: 'auth', retryable: false });
  expect(refused.text).toContain(`${site}/login`);
  expect(refused.facts.outcome).toBe('not_executed');
  expect(refused.texts.at(-1)).toMatch(/^Next: .* relay__ask_person \{"why":"…","tabId":\d+\}$/);
  expect((await agent.call('signed-in__read_title')).value).toEqual({ title: 'Signed out' });
});

test('settings are checked when they are set, and reach the handler', async ({ closing }) => {
  const site = await openNotebook(closing);
  const stage = await openStage(closing);
  const { agent, relay } = stage;
  await relay.tabrelay('plugin', 'add', await testPlugin('signed-in', site, closing));
  await expect(relay.tabrelay('plugin', 'configure', 'signed-in', 'limit=many')).rejects.toThrow(/number/);
  await relay.tabrelay('plugin', 'configure', 'signed-in', 'limit=9');
  await relay.tabrelay('plugin', 'configure', 'signed-in', 'password=secret');
  await visit(stage, `${site}/`);
  expect((await agent.call('signed-in__who_am_i')).value).toMatchObject({
    settings: { limit: 9, password: 'secret' },
  });
});
