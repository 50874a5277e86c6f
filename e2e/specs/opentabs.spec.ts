// A class-based plugin written for the OpenTabs SDK, built as it is: its hooks, its pre-script and its settings, in a
// real browser. What its other helpers do is in opentabs-helpers.spec.ts.

import { openNotebook } from '../sites/notebook.ts';
import { addNotes, leaves, settings, visitWithPlugin } from '../stage/opentabs.ts';
import { mainWorldPlugin } from '../stage/plugin.ts';
import { publishedForOpenTabs } from '../stage/published.ts';
import type { Relay } from '../stage/relay.ts';
import { expect, openStage, test, visit } from '../stage/test.ts';

/** What each tool is asked, and what it has to answer. */
const cases = (origin: string): [tool: string, args: Record<string, unknown>, answer: unknown][] => [
  ['read_url', {}, { url: `${origin}/` }],
  ['read_title', {}, { text: 'Notebook' }],
  ['read_global', { path: 'app.store.user' }, { value: 'ada' }],
  ['read_text', { selector: 'h1' }, { text: 'Notebook' }],
  ['read_meta', { name: 'none' }, { text: null }],
  ['list_elements', { selector: 'li' }, { texts: ['one', 'two'] }],
  ['await_element', {}, { text: 'late' }],
  ['await_removal', {}, { gone: true }],
  ['watch_element', {}, { changes: 1 }],
  ['list_notes', { query: 'tea' }, { notes: [{ id: '1', text: 'buy tea' }] }],
  ['export_notes', {}, { text: 'buy tea\nread' }],
  ['create_note', { text: 'a' }, { method: 'POST', type: 'application/json', body: '{"text":"a"}' }],
  ['replace_note', {}, { method: 'PUT', type: 'application/json', body: '{"text":"plain"}' }],
  ['change_note', {}, { method: 'PATCH', type: 'application/json', body: '{"text":"plain"}' }],
  ['delete_note', {}, { method: 'DELETE', type: null, body: '' }],
  [
    'post_note',
    { text: 'a b' },
    { method: 'POST', type: 'application/x-www-form-urlencoded', body: 'text=a+b' },
  ],
  ['upload_note', { text: 'a b' }, expect.objectContaining({ type: 'multipart/form-data' })],
  ['local_entry', {}, { value: 'kept', after: null }],
  ['session_entry', {}, { value: 'kept', after: null }],
  ['find_entry', { prefix: 'notes:' }, { entry: { key: 'notes:last', value: '7' } }],
  ['read_cookie', { name: 'theme' }, { value: 'dark blue' }],
  ['cache_token', {}, { kept: { token: 't' }, after: null }],
  ['try_again', {}, { tries: 3 }],
  ['take_time', { steps: 3 }, { done: 3 }],
  ['read_pre_script', {}, { token: 'first-request', installedAt: 'loading' }],
];

// An agent is listed as many as there is room for beside those of other sites.
const toolsOf = async (relay: Relay, plugin: string): Promise<string[]> =>
  (await relay.tabrelay('tools')).split('\n').filter((line) => line.startsWith(`${plugin}__`));

test('45 tools of an unmodified plugin answer', async ({ closing }) => {
  const [north, south] = [await openNotebook(closing), await openNotebook(closing)];
  const stage = await openStage(closing);
  const { agent, relay } = stage;
  await addNotes(stage, north, closing, 'notes');
  for (const setting of settings(north, south, 'hello')) {
    await relay.person('plugin', 'configure', 'notes', setting);
  }
  await visitWithPlugin(stage, `${north}/`, 'notes__read_url');
  expect(await toolsOf(relay, 'notes')).toHaveLength(45);

  const told = (await agent.call('notes__read_events', { instance: 'north' })).value;
  expect(told).toEqual({
    events: ['activate', 'start read_url', 'end read_url true true', 'start read_events'],
  });
  for (const [tool, args, answer] of cases(north)) {
    const { value } = await agent.call(`notes__${tool}`, { ...args, instance: 'north' });
    expect(value, tool).toEqual(answer);
  }
  const settled = [`${north}/`, 'hello', 7, true, 'green'];
  const read = await agent.call('notes__read_settings', { instance: 'north' });
  expect(read.value).toEqual({ before: settled, after: settled });
  expect((await agent.call('notes__get_note', { id: '9', instance: 'north' })).code).toBe('NOT_FOUND');
  expect((await agent.call('notes__lock_note', { instance: 'north' })).code).toBe('NOTE_LOCKED');

  await stage.page.evaluate(() => history.pushState(null, '', '#there'));
  const events = async () => (await agent.call('notes__read_events', { instance: 'north' })).text;
  await expect.poll(events).toContain('navigate #there');
  await leaves(stage, 'notes');
});

test('45 tools of a package as it was published answer', async ({ closing }) => {
  const [north, south] = [await openNotebook(closing), await openNotebook(closing)];
  const stage = await openStage(closing);
  const { agent, relay } = stage;
  const tarball = await publishedForOpenTabs('opentabs-notes', north, relay, closing);
  await relay.tabrelay('plugin', 'add', tarball);
  for (const setting of settings(north, south, 'hello')) {
    await relay.person('plugin', 'configure', 'opentabs-notes', setting);
  }
  await visitWithPlugin(stage, `${north}/`, 'opentabs-notes__read_url');
  expect(await toolsOf(relay, 'opentabs-notes')).toHaveLength(45);
  for (const [tool, args, answer] of cases(north)) {
    const { value } = await agent.call(`opentabs-notes__${tool}`, { ...args, instance: 'north' });
    expect(value, tool).toEqual(answer);
  }
  const settled = [`${north}/`, 'hello', 7, true, 'green'];
  const read = await agent.call('opentabs-notes__read_settings', { instance: 'north' });
  expect(read.value).toEqual({ before: settled, after: settled });
  expect((await agent.call('opentabs-notes__get_note', { id: '9', instance: 'north' })).code).toBe(
    'NOT_FOUND',
  );
  expect((await agent.call('opentabs-notes__lock_note', { instance: 'north' })).code).toBe('NOTE_LOCKED');
  await stage.page.evaluate(() => history.pushState(null, '', '#there'));
  const events = async () => (await agent.call('opentabs-notes__read_events', { instance: 'north' })).text;
  await expect.poll(events).toContain('navigate #there');
  expect(await events()).toContain('end lock_note false true');
  expect(
    await stage.page.evaluate(() => Object.keys(globalThis).filter((key) => /opentabs/i.test(key))),
  ).toEqual([]);
  await leaves(stage, 'opentabs-notes');
});

test('a published package waits until its page is ready', async ({ closing }) => {
  const site = await openNotebook(closing);
  const stage = await openStage(closing);
  await stage.relay.tabrelay(
    'plugin',
    'add',
    await publishedForOpenTabs('opentabs-notes', site, stage.relay, closing),
  );
  await visitWithPlugin(stage, `${site}/late`, 'opentabs-notes__read_url', {});
  await visit(stage, `${site}/signed-out`);
  const answer = await stage.agent.call('opentabs-notes__read_url');
  expect(answer.code).toBe('ADAPTER_NOT_READY');
});

test('two instances are told apart, and one has to be named', async ({ closing }) => {
  const [north, south] = [await openNotebook(closing), await openNotebook(closing)];
  const stage = await openStage(closing);
  await addNotes(stage, north, closing, 'notes');
  for (const setting of settings(north, south, 'hello')) {
    await stage.relay.person('plugin', 'configure', 'notes', setting);
  }
  await visitWithPlugin(stage, `${north}/`, 'notes__read_url');
  const other = await stage.browser.newPage();
  await other.goto(`${south}/`);
  await expect.poll(() => stage.relay.tabs()).toContain(`${south}/`);
  for (const [instance, address] of [
    ['north', `${north}/`],
    ['south', `${south}/`],
  ]) {
    const { value } = await stage.agent.call('notes__read_settings', { instance });
    expect(JSON.stringify(value)).toContain(`{"before":["${address}"`);
  }
  expect((await stage.agent.call('notes__read_url')).code).toBe('INSTANCE_REQUIRED');
  const unknown = await stage.agent.call('notes__read_url', { instance: 'nort' });
  expect(unknown.text).toMatch(/north.*south/);
});

test('two plugins on one tab do not see each other', async ({ closing }) => {
  const [north, south] = [await openNotebook(closing), await openNotebook(closing)];
  const stage = await openStage(closing);
  for (const name of ['notes', 'other']) {
    await addNotes(stage, north, closing, name);
    for (const setting of settings(north, south, `from ${name}`)) {
      await stage.relay.person('plugin', 'configure', name, setting);
    }
  }
  await visitWithPlugin(stage, `${north}/`, 'notes__read_url');
  await visitWithPlugin(stage, `${north}/`, 'other__read_url');
  // At the same time: each waits between its two looks.
  const answers = await Promise.all(
    ['notes', 'other', 'notes', 'other'].map((name) =>
      stage.agent.call(`${name}__read_settings`, { instance: 'north' }),
    ),
  );
  for (const [i, answer] of answers.entries()) {
    const mine = ['from notes', 'from other'][i % 2];
    const value = [`${north}/`, mine, 7, true, 'green'];
    expect(answer.value).toEqual({ before: value, after: value });
  }
  const events = await stage.agent.call('other__read_events', { instance: 'north' });
  expect(JSON.stringify(events.value)).not.toContain('notes');
});

test('a page that lets scripts connect nowhere still answers', async ({ closing }) => {
  const site = await openNotebook(closing);
  const stage = await openStage(closing);
  await addNotes(stage, site, closing, 'notes');
  await visitWithPlugin(stage, `${site}/locked`, 'notes__read_url', {});
  expect((await stage.agent.call('notes__list_notes', { query: 'tea' })).value).toEqual({
    notes: [{ id: '1', text: 'buy tea' }],
  });
  expect((await stage.agent.call('notes__upload_note', { text: 'a' })).value).toMatchObject({
    method: 'POST',
    type: 'multipart/form-data',
    body: expect.stringContaining('name="text"\n\na\n'),
  });
  expect((await stage.agent.call('notes__get_note', { id: '9' })).code).toBe('NOT_FOUND');
});

test('what a page hangs on the prototypes of everything changes nothing, also in a tab that was open before', async ({
  closing,
}) => {
  const site = await openNotebook(closing);
  const stage = await openStage(closing);
  await visit(stage, `${site}/hostile`);
  await stage.relay.tabrelay('plugin', 'add', await mainWorldPlugin(site, closing));
  await expect(async () => {
    const answer = await stage.agent.call('main-world__read_title');
    expect(answer.value).toEqual({ title: 'Hostile' });
    expect(JSON.stringify(answer.meta)).toContain('"trust":"late"');
  }).toPass();
  expect((await stage.agent.call('main-world__break')).code).toBe('INTERNAL_ERROR');
  await visit(stage, `${site}/hostile`);
  expect((await stage.agent.call('main-world__break')).code).toBe('INTERNAL_ERROR');
});
