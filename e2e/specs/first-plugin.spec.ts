// docs/guides/first-plugin.md, followed to the letter by somebody who has no Node.

import { rm } from 'node:fs/promises';
import path from 'node:path';
import { follow, type GuideFile, guideFiles } from '../stage/guide.ts';
import { binary, temporaryFolder } from '../stage/paths.ts';
import { run, start } from '../stage/process.ts';
import { registryWith } from '../stage/registry.ts';
import { expect, test } from '../stage/test.ts';

test('a first plugin answers, with JSON Schema and with Zod', async ({ stage }) => {
  const { agent, closing, demo, relay } = stage;
  const parent = await temporaryFolder('guide', closing);
  const folder = path.join(parent, 'tea');
  const env = {
    ...relay.env,
    PATH: path.join(parent, 'empty'),
    npm_config_registry: await registryWith('zod', closing),
  };
  const tabrelay = (...args: string[]) => run(binary, args, env);

  const files = await guideFiles('first-plugin.md');
  expect(files.map((file) => file.name)).toEqual([
    'package.json',
    'src/index.ts',
    'fixtures/none.json',
    'src/index.ts',
  ]);
  // The demo site of this test is not at its usual address.
  const here = ({ name, content }: GuideFile) => ({
    name,
    content: content.replaceAll('http://127.0.0.1:7718', demo.url),
  });
  const [about, plain, fixture, withZod] = files.map(here);
  if (!about || !plain || !fixture || !withZod) throw new Error('the guide has lost a step');

  await tabrelay('plugin', 'new', folder);
  await follow(folder, about);
  const dev = start(binary, ['plugin', 'dev', folder], env);
  closing.defer(() => dev.stop('SIGINT'));
  await expect.poll(() => agent.tools()).toContain('tea__read_headings');
  await follow(folder, plain);
  await rm(path.join(folder, 'src/read-headings.ts'));
  await rm(path.join(folder, 'fixtures'), { recursive: true });
  await expect.poll(() => agent.tools()).toContain('tea__find_pages');
  expect(await tabrelay('call', 'tea__find_pages', '{"word":"tea"}')).toContain('/pages/');
  expect((await agent.call('tea__find_pages', { word: 'TEA' })).value).toMatchObject({
    pages: [expect.stringContaining('/pages/tea')],
  });
  expect((await agent.call('tea__find_pages', { word: 'nowhere' })).text).toContain('NOT_FOUND');

  await follow(folder, fixture);
  expect(await tabrelay('plugin', 'test', folder)).toBe('passed   none\n');
  await dev.stop('SIGINT');
  await tabrelay('plugin', 'check', folder);
  await tabrelay('plugin', 'add', folder);

  // The same with Zod.
  await tabrelay('plugin', 'use', 'zod', '--in', folder);
  await follow(folder, withZod);
  await tabrelay('plugin', 'build', folder);
  // The relay sees a moment later that there is another build.
  await expect
    .poll(async () => (await agent.call('tea__find_pages', { word: '' })).code)
    .toBe('VALIDATION_ERROR');
  expect((await agent.call('tea__find_pages', { word: 'tea' })).value).toMatchObject({
    pages: [expect.stringContaining('/pages/tea')],
  });
  expect(await tabrelay('plugin', 'test', folder)).toBe('passed   none\n');
  await tabrelay('plugin', 'check', folder);
});
