// A plugin that is added, changed or removed while everything runs.

import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { z } from 'zod';
import { temporaryFolder } from '../stage/paths.ts';
import { mainWorldPlugin, testPlugin } from '../stage/plugin.ts';
import { portOf } from '../stage/port.ts';
import { expect, test } from '../stage/test.ts';

const Tabs = z.object({ tabs: z.array(z.object({ tabId: z.number() })) });

test('a new plugin is scaffolded, built without Node, added, called, changed and removed', async ({
  stage,
}) => {
  const { agent, closing, demo, relay } = stage;
  const folder = await mainWorldPlugin(demo.url, closing);
  let changes = 0;
  agent.client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    changes++;
  });

  await relay.tabrelay('plugin', 'add', folder);
  await expect
    .poll(() => changes, { message: 'the agent is told that the tools changed' })
    .toBeGreaterThan(0);
  expect(await agent.tools()).toContain('main-world__read_title');
  expect((await agent.call('main-world__read_title')).value).toEqual({ title: 'tabrelay demo' });
  expect(await relay.tabrelay('plugin', 'list', '--json')).toContain('main-world');

  await relay.tabrelay('plugin', 'remove', 'main-world');
  await expect.poll(() => agent.tools()).not.toContain('main-world__read_title');
  expect(await agent.tools()).toContain('demo__hello');
});

test('a plugin that does not build is refused with a reason, and the others stay', async ({
  sharedStage: stage,
}) => {
  const { agent, closing, demo, relay } = stage;
  const folder = await mainWorldPlugin(demo.url, closing);
  await writeFile(path.join(folder, 'src/index.ts'), 'export default {{{');
  await expect(relay.tabrelay('plugin', 'add', folder)).rejects.toThrow(/src\/index\.ts/);
  expect((await agent.call('demo__hello')).failed).toBe(false);
});

test('a plugin that works in a frame of another page runs there when the call names the tab', async ({
  sharedStage: stage,
}) => {
  const { agent, closing, demo, page, relay } = stage;
  const inside = createServer((_, answer) => {
    answer.setHeader('content-type', 'text/html');
    answer.end('<title>Inside</title>');
  }).listen(0, '127.0.0.1');
  await once(inside, 'listening');
  closing.defer(async () => void inside.close());
  const origin = `http://127.0.0.1:${portOf(inside.address())}`;
  await relay.tabrelay('plugin', 'add', await testPlugin('framed', origin, closing));
  closing.defer(() => relay.tabrelay('plugin', 'remove', 'framed'));

  await page.goto(demo.url);
  await page.evaluate((src) => {
    const frame = document.createElement('iframe');
    frame.src = src;
    document.body.append(frame);
  }, origin);
  const { tabs } = Tabs.parse((await agent.call('browser__list_tabs')).value);
  const read = async () => (await agent.call('framed__read_title', { tabId: tabs[0]?.tabId })).said;
  await expect.poll(read).toEqual({ title: 'Inside' });
  expect((await agent.call('framed__read_title')).code).toBe('TAB_NOT_FOUND');
});

test('a scaffolded plugin builds as it is', async ({ sharedStage: stage }) => {
  const { closing, relay } = stage;
  const parent = await temporaryFolder('plugin', closing);
  const folder = path.join(parent, 'tea-shop');
  await relay.tabrelay('plugin', 'new', folder);
  await relay.tabrelay('plugin', 'build', folder);
  expect(JSON.parse(await readFile(path.join(folder, 'dist/manifest.json'), 'utf8'))).toMatchObject({
    name: 'tea-shop',
  });
  // Its fixtures hold, in pages made of their HTML.
  expect(await relay.tabrelay('plugin', 'test', folder, '--browser')).toBe(
    'passed   headings\npassed   no-headings\n',
  );
});
