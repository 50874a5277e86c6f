// An agent works on the flows of a Node-RED in the name of the person who signed in to its editor.

import { z } from 'zod';
import { editor, type NodeRed, openNodeRed, reader, type Somebody } from '../sites/node-red.ts';
import { Closing } from '../stage/closing.ts';
import { expect, openStage, type Stage, test, visit } from '../stage/test.ts';

interface NodeRedStage extends Stage {
  nodeRed: NodeRed;
}

/** One Node-RED and one browser for all. Each test begins signed out; the last ones change flows and end the server. */
const nodeRedTest = test.extend<{ nodeRedStage: NodeRedStage }, { nodeRedGround: NodeRedStage }>({
  nodeRedGround: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of a fixture's dependencies from it.
    async ({}, use) => {
      const closing = new Closing();
      const nodeRed = await openNodeRed(closing);
      const settings = { url: nodeRed.url };
      const stage = await openStage(closing, { plugins: { 'node-red': { settings } } });
      await use({ ...stage, nodeRed });
      await closing.close();
    },
    { scope: 'worker' },
  ],
  nodeRedStage: async ({ nodeRedGround: stage }, use) => {
    await visit(stage, stage.nodeRed.url);
    await stage.page.evaluate(() => localStorage.clear());
    await stage.page.reload();
    await use(stage);
  },
});

/** What a person does who opens the editor. */
async function signIn({ page }: Stage, { name, password }: Somebody = editor): Promise<void> {
  await page.getByLabel('Username').fill(name);
  await page.getByLabel('Password').fill(password);
  await page.getByRole('button', { name: 'Login' }).click();
  // The editor is busy until it has drawn its flows.
  await expect(page.locator('#red-ui-workspace-tabs').getByText('Greetings')).toBeVisible();
  await expect(page.locator('#red-ui-loading-progress')).toBeHidden();
}

const Revised = z.looseObject({ rev: z.string() });
const Created = z.object({ id: z.string() });

nodeRedTest('signed out, AUTH_ERROR; signed in, flows are read and tried', async ({ nodeRedStage }) => {
  const { agent, nodeRed } = nodeRedStage;
  const call = async (tool: string, args = {}) => (await agent.call(`node-red__${tool}`, args)).value;
  const refused = await agent.call('node-red__list_flows');
  expect(refused.pageFields).toEqual({ code: 'AUTH_ERROR', category: 'auth', retryable: false });
  expect(refused.facts.outcome).toBe('not_executed');
  expect(refused.text).toContain(`sign in at ${nodeRed.url}`);

  await signIn(nodeRedStage);
  expect(await call('list_flows')).toMatchObject({
    flows: [
      { id: 'greetings', label: 'Greetings', subflow: false, disabled: false, nodes: 3 },
      { id: 'failures', label: 'Failures', nodes: 2 },
    ],
    total: 2,
  });
  expect(await call('get_flow', { flow: 'Greetings', limit: 2 })).toMatchObject({
    info: 'Says hello.',
    nodes: [
      { id: 'press', type: 'inject', name: 'Press', wires: [['greet']] },
      { id: 'greet', type: 'function' },
    ],
    nextOffset: 2,
  });
  expect(await call('get_node', { node: 'greet' })).toMatchObject({
    node: { func: expect.stringContaining('Hello') },
  });
  expect(await call('search_nodes', { text: "flow.set('last'" })).toMatchObject({
    nodes: [{ id: 'greet', flow: 'Greetings', found: expect.stringMatching(/^func: /) }],
  });
  expect(await call('search_nodes', { type: 'inject', flow: 'failures' })).toMatchObject({
    nodes: [{ id: 'press-2' }],
  });
  expect(await call('watch_debug', { inject: 'press', limit: 1, seconds: 25 })).toEqual({
    messages: [
      { node: 'show', name: 'Show', property: 'payload', format: 'string[11]', value: 'Hello world' },
    ],
  });
  expect(await call('watch_debug', { inject: 'press', payload: 'fox', limit: 1, seconds: 25 })).toMatchObject(
    {
      messages: [{ value: 'Hello fox' }],
    },
  );
  expect(await call('watch_debug', { inject: 'press-2', limit: 1, seconds: 25 })).toMatchObject({
    messages: [{ node: 'fall', format: 'error', value: expect.stringContaining('It fell.') }],
  });
  expect(await call('inject', { node: 'press', payload: 'owl' })).toEqual({ injected: 'press' });
  await expect
    .poll(() => call('read_context', { scope: 'flow', id: 'greetings' }))
    .toMatchObject({ values: [{ store: 'memory', key: 'last', value: 'owl' }] });
  expect(await call('read_context', { scope: 'node', id: 'greet' })).toMatchObject({
    values: [{ key: 'count', value: '3' }],
  });
  expect(await call('list_palette', { search: 'mqtt' })).toMatchObject({
    sets: [
      { module: 'node-red', version: '4.1.15', enabled: true, types: ['mqtt in', 'mqtt out', 'mqtt-broker'] },
    ],
  });
  expect(await call('runtime_info')).toMatchObject({
    version: '4.1.15',
    user: 'alice',
    state: 'start',
    nodeVersion: process.version,
    memoryBytes: expect.any(Number),
  });
});

nodeRedTest('a person who may only read, and a session that ended', async ({ nodeRedStage }) => {
  const { agent, page } = nodeRedStage;
  await signIn(nodeRedStage, reader);
  const code = async (tool: string, args = {}) => (await agent.call(`node-red__${tool}`, args)).code;
  expect((await agent.call('node-red__runtime_info')).value).toMatchObject({ user: 'bob' });
  expect(await code('set_flow_enabled', { flow: 'Greetings', enabled: false })).toBe('AUTH_ERROR');
  expect(await code('inject', { node: 'press' })).toBe('AUTH_ERROR');
  expect(await code('read_context', { scope: 'flow' })).toBe('VALIDATION_ERROR');
  expect(await code('get_node', { node: 'nothing' })).toBe('NOT_FOUND');
  await page.evaluate(() => localStorage.setItem('auth-tokens', '{"access_token":"of-yesterday"}'));
  expect(await code('list_palette')).toBe('AUTH_ERROR');
  expect(await code('watch_debug')).toBe('AUTH_ERROR');
});

nodeRedTest('flows are created, changed, stopped and deleted', async ({ nodeRedStage }) => {
  const { agent, nodeRed } = nodeRedStage;
  await signIn(nodeRedStage);
  const call = (tool: string, args = {}) => agent.call(`node-red__${tool}`, args);
  const { rev } = Revised.parse((await call('get_node', { node: 'greet' })).structured);
  const settings = { func: "return { ...msg, payload: 'Bye ' + msg.payload };" };
  expect((await call('update_node', { node: 'greet', settings, rev })).failed).toBe(false);
  expect((await call('watch_debug', { inject: 'press', limit: 1, seconds: 25 })).value).toMatchObject({
    messages: [{ value: 'Bye world' }],
  });
  const { rev: next } = Revised.parse((await call('get_node', { node: 'greet' })).structured);
  const part = { node: 'greet', oldText: "'Bye '", newText: "'Good night '", rev: next };
  expect((await call('update_node', part)).failed).toBe(false);
  expect((await call('watch_debug', { inject: 'press', limit: 1, seconds: 25 })).value).toMatchObject({
    messages: [{ value: 'Good night world' }],
  });
  await nodeRed.redeploy('Farewells');
  const late = await call('update_node', { node: 'greet', settings, rev });
  expect(late.pageFields).toEqual({ code: 'CONFLICT', category: 'validation', retryable: false });
  expect(late.facts.outcome).toBe('not_executed');

  expect((await call('set_flow_enabled', { flow: 'Farewells', enabled: false })).value).toMatchObject({
    enabled: false,
  });
  expect((await call('inject', { node: 'press' })).code).toBe('NOT_FOUND');
  expect((await call('set_flow_enabled', { flow: 'Farewells', enabled: true })).value).toMatchObject({
    enabled: true,
  });
  expect((await call('inject', { node: 'press' })).failed).toBe(false);

  const nodes = [{ id: 'note-1', type: 'comment', name: 'A note', x: 100, y: 100, wires: [] }];
  const created = Created.parse((await call('create_flow', { label: 'Notes', nodes })).value);
  expect((await call('get_flow', { flow: 'Notes' })).value).toMatchObject({
    id: created.id,
    nodes: [{ type: 'comment' }],
  });
  const again = await call('create_flow', { label: 'Notes 2', nodes });
  expect(again.pageFields).toEqual({ code: 'VALIDATION_ERROR', category: 'validation', retryable: false });
  expect(again.text).toContain('Node-RED answered: duplicate id');
  expect((await call('delete_flow', { flow: 'Notes' })).value).toEqual({
    deleted: created.id,
    label: 'Notes',
  });
  expect((await call('get_flow', { flow: 'Notes' })).code).toBe('NOT_FOUND');
});

nodeRedTest('a server that is gone', async ({ nodeRedStage: { agent, nodeRed, page } }) => {
  await page.evaluate(() => localStorage.setItem('auth-tokens', '{"access_token":"of-today"}'));
  await nodeRed.program.stop();
  expect((await agent.call('node-red__list_flows')).code).toBe('NETWORK_ERROR');
});
