// A plugin that says how to know that a person is signed in; waiting for it, and the words when nobody is, are ours.

import { z } from 'zod';
import { openNotebook } from '../sites/notebook.ts';
import { openSite } from '../sites/own-pages.ts';
import { testPlugin } from '../stage/plugin.ts';
import { openPanel } from '../stage/side-panel.ts';
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
  expect(refused.texts.at(-1)).toMatch(
    /^Next: .* relay__ask_person \{"why":"…","tabId":\d+,"until":\{"signedIn":true\}\}$/,
  );
  expect((await agent.call('signed-in__read_title')).value).toEqual({ title: 'Signed out' });
});

test('a request for the person ends once the plugin of the page says that they are signed in', async ({
  closing,
}) => {
  const site = await openNotebook(closing);
  const other = await openSite(closing, { '': '<title>No plugin</title>' });
  const stage = await openStage(closing);
  const { agent, relay, page } = stage;
  await relay.tabrelay('plugin', 'add', await testPlugin('signed-in', site, closing));
  await visit(stage, `${site}/signed-out`);
  const { meta } = await agent.call('signed-in__read_title');
  const { tabId } = z.object({ tabId: z.number() }).parse(meta['tabrelay/call']);
  const ask = (about: object = { tabId }) =>
    agent.call('relay__ask_person', { why: 'Please sign in', until: { signedIn: true }, ...about });

  await page.goto(`${other}/`);
  const elsewhere = await ask({});
  expect(elsewhere.code).toBe('VALIDATION_ERROR');
  expect(elsewhere.text).toContain('No plugin is for the page of tab');
  expect(elsewhere.text).toContain('Pass until.text, gone or url');

  await page.goto(`${site}/signed-out`);
  const answer = ask();
  const panel = await openPanel(stage.browser);
  const card = panel.getByRole('article', { name: /needs your hand/ });
  await expect(card).toContainText('you are signed in to “Signed in”');
  await card.getByRole('button', { name: 'Go to the tab' }).click();
  await page.goto(`${other}/`); // a site where people sign in to several, which no plugin is for
  await expect(card).toHaveCount(1);
  await page.goto(`${site}/signed-out`);
  await page.getByLabel('Password').fill('my secret word');
  await page.getByRole('button', { name: 'Sign in' }).click();
  const { texts, failed } = await answer;
  expect(failed).toBe(false);
  expect(texts.join('\n')).toContain('What was awaited came.');
  expect(texts.join('\n')).toContain('"Notebook"');
  await expect(card).toHaveCount(0);
  expect((await ask()).text).toContain('What was awaited came.'); // they are already
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
