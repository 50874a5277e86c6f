// A plugin that is new or changed: nothing of it runs until a person reviewed that content, and no agent can do that.

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { z } from 'zod';
import { httpAgent } from '../stage/agent.ts';
import type { Closing } from '../stage/closing.ts';
import { binary, temporaryFolder } from '../stage/paths.ts';
import { start } from '../stage/process.ts';
import type { Relay } from '../stage/relay.ts';
import { openPanel } from '../stage/side-panel.ts';
import { atTerminal, killCommand } from '../stage/terminal.ts';
import { expect, openStage, type Stage, test } from '../stage/test.ts';

const source = (version: number) => `
import { definePlugin, defineTool } from '@tabrelay/plugin-sdk';
const version = defineTool({
  name: 'version', description: 'Which version answers.', annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {}, additionalProperties: false },
  handle: () => ({ version: ${version} }),
});
export default definePlugin({ tools: [version] });
`;

/** A plugin whose pre-script leaves a trace in every page it is let into. */
async function tracePlugin(origin: string, closing: Closing, name = 'trace'): Promise<string> {
  const folder = path.join(await temporaryFolder('plugin', closing), name);
  const tabrelay = {
    displayName: 'Trace',
    urlPatterns: [`${origin}/*`],
    world: 'main',
    preScript: 'src/before.ts',
  };
  await mkdir(path.join(folder, 'src'), { recursive: true });
  await writeFile(
    path.join(folder, 'package.json'),
    JSON.stringify({ name: `tabrelay-plugin-${name}`, version: '1.0.0', type: 'module', tabrelay }),
  );
  await writeFile(
    path.join(folder, 'src/before.ts'),
    "document.documentElement.dataset.trace = 'was here';\n",
  );
  await writeFile(path.join(folder, 'src/index.ts'), source(1));
  return folder;
}

async function traced(page: Page): Promise<boolean> {
  await page.reload();
  return page.evaluate(() => document.documentElement.dataset.trace !== undefined);
}

async function adapters(relay: Relay, name = 'trace'): Promise<string[]> {
  const files = await readdir(path.join(relay.extension, 'adapters'));
  return files.filter((file) => file.startsWith(`${name}-`));
}

const Sheet = z.object({
  hash: z.string(),
  state: z.string(),
  diff: z.array(z.object({ path: z.string(), change: z.string(), text: z.string() })),
});

async function sheet(relay: Relay, name = 'trace') {
  return Sheet.parse(JSON.parse(await relay.tabrelay('plugin', 'review', name, '--json')));
}

const guarded = { guarded: true, config: { permissions: { default: 'auto' } } };

// Shared by the tests that do not restart the relay. Each adds a plugin of its own name, because a review is
// remembered.
test.use({ groundOptions: guarded });

/** Adds a plugin until the test is over; returns its folder. */
async function addTrace({ closing, demo, relay }: Stage, name: string): Promise<string> {
  const folder = await tracePlugin(demo.url, closing, name);
  await relay.tabrelay('plugin', 'add', folder);
  closing.defer(() => relay.tabrelay('plugin', 'remove', name));
  return folder;
}

test('a new plugin runs after its review, and a changed one as it was reviewed', async ({ closing }) => {
  const { agent, demo, page, relay } = await openStage(closing, guarded);
  const folder = await tracePlugin(demo.url, closing);
  const version = async () => (await agent.call('trace__version')).said;

  // New: nothing of it is anywhere.
  const added = start(binary, ['plugin', 'add', folder], relay.env);
  expect(await added.ended).toBe(0);
  expect(added.output()).toContain('trace is off until you review it.');
  expect(await adapters(relay)).toEqual([]);
  expect(await traced(page)).toBe(false);
  expect(await agent.tools()).not.toContain('trace__version');
  const refused = await agent.call('trace__version');
  expect(refused.block).toMatchObject({ code: 'PLUGIN_NOT_REVIEWED', outcome: 'not_executed' });
  expect(refused.text).toContain('tabrelay plugin review');

  // Reviewed: it runs.
  const review = atTerminal(relay, closing, ['plugin', 'review', 'trace'], 'yes\n');
  expect(await review.ended).toBe(0);
  expect(review.output()).toContain("among the page's own scripts (main world)");
  expect(review.output()).toContain('It runs a script before each of these pages');
  expect(review.output()).toContain('trace is reviewed and runs.');
  await expect.poll(() => agent.tools()).toContain('trace__version');
  await expect.poll(() => traced(page)).toBe(true);
  await expect.poll(version).toEqual({ version: 1 });

  // One byte is another: what was reviewed goes on, and the difference is that byte's line.
  const adapter = path.join(folder, 'dist/adapter.js');
  const code = await readFile(adapter, 'utf8');
  const changed = code.replace('version:1', 'version:2');
  expect(changed).not.toBe(code);
  await writeFile(adapter, changed);
  await expect.poll(async () => (await sheet(relay)).state).toBe('waiting');
  const { diff } = await sheet(relay);
  expect(diff).toMatchObject([{ path: 'dist/adapter.js', change: 'changed' }]);
  const lines = diff.flatMap(({ text }) => text.split('\n')).filter((line) => /^[-+] /.test(line));
  expect(lines).toEqual([expect.stringMatching(/^- +version:1$/), expect.stringMatching(/^\+ +version:2$/)]);
  expect(await version()).toEqual({ version: 1 });
  await page.reload();
  await expect.poll(version).toEqual({ version: 1 });
  expect(await relay.tabrelay('plugin', 'list')).toMatch(/^trace .* waiting, the reviewed version runs /m);

  // Also after a restart, from what the relay kept.
  await relay.tabrelay('down');
  await relay.start();
  await expect.poll(() => relay.browsers()).toBe(1);
  await expect.poll(version).toEqual({ version: 1 });

  // Refused it stays so; the bytes from before need no second review.
  expect(await atTerminal(relay, closing, ['plugin', 'review', 'trace', '--refuse']).ended).toBe(0);
  expect(await version()).toEqual({ version: 1 });
  expect((await sheet(relay)).state).toBe('refused');
  await writeFile(adapter, code);
  await expect.poll(async () => (await sheet(relay)).state).toBe('accepted');

  // And the change, once it is accepted.
  await writeFile(adapter, changed);
  await expect.poll(async () => (await sheet(relay)).state).toBe('refused');
  expect(await atTerminal(relay, closing, ['plugin', 'review', 'trace', '--yes'], 'yes\n').ended).toBe(0);
  await expect.poll(version).toEqual({ version: 2 });
});

test('a person reviews in the side panel', async ({ sharedStage: stage }) => {
  const { agent, browser, page, relay } = stage;
  const name = 'trace-in-panel';
  const folder = await addTrace(stage, name);
  const version = async () => (await agent.call(`${name}__version`)).said;

  const panel = await openPanel(browser, 'plugins');
  await expect(panel.getByRole('tab', { name: 'Plugins 1 to review' })).toBeVisible();
  await panel.getByRole('button', { name: 'Review Trace' }).click();
  await expect(panel.getByText('There its code can read and do what you can, as you')).toBeVisible();
  await expect(panel.getByText('It was never reviewed before.')).toBeVisible();
  await expect(panel.getByText('dist/adapter.js', { exact: true })).toBeVisible();
  await panel.getByRole('button', { name: 'Accept' }).click();
  await expect.poll(() => agent.tools()).toContain(`${name}__version`);
  await page.reload();
  await expect.poll(version).toEqual({ version: 1 });

  // The change is shown, and kept off.
  await writeFile(path.join(folder, 'src/index.ts'), source(2));
  await relay.tabrelay('plugin', 'build', folder);
  await panel.getByRole('button', { name: 'Review Trace' }).click();
  // The sheet is read anew when the build is done; until then only the source differs.
  const changed = panel.getByRole('group').filter({ hasText: /^dist\/adapter\.js\s*changed/ });
  await changed.getByText('dist/adapter.js', { exact: true }).click();
  await expect(panel.getByText(/^\+ +version:2\s*$/)).toBeVisible();
  await panel.getByRole('button', { name: 'Keep it off' }).click();
  await expect.poll(async () => (await sheet(relay, name)).state).toBe('refused');
  expect(await version()).toEqual({ version: 1 });
});

test('no agent completes a review, whichever way it tries', async ({ sharedStage: stage }) => {
  const { agent, closing, page, relay } = stage;
  const name = 'trace-by-agents';
  const folder = await addTrace(stage, name);
  const { hash } = await sheet(relay, name);

  // MCP has no tool for it, under any name.
  expect((await agent.tools()).filter((name) => /review|approve|accept|permit/.test(name))).toEqual([]);
  for (const tool of ['relay__review', 'plugin_review', 'relay__plugin_review']) {
    await expect(agent.call(tool, { plugin: name, hash, verdict: 'accept' })).rejects.toThrow(/no tool/);
  }

  // The API takes no client's token.
  const token = await relay.token();
  const web = await httpAgent(relay, token, closing);
  expect(await web.tools()).not.toContain(`${name}__version`);
  for (const [method, route] of [
    ['GET', ''],
    ['GET', `/${name}`],
    ['POST', `/${name}`],
    ['POST', `/${name}/dev`],
  ] as const) {
    const response = await fetch(await relay.url(`/api/v1/reviews${route}`), {
      method,
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      ...(method === 'POST' ? { body: JSON.stringify({ hash, verdict: 'accept' }) } : {}),
    });
    expect(response.status, `${method} ${route}`).toBe(403);
    expect(await response.text()).toContain('it is for the person');
  }

  // The command line wants a terminal, whatever is typed.
  for (const typed of [undefined, 'yes\n']) {
    const command = start(binary, ['plugin', 'review', name, '--yes'], relay.env, typed);
    expect(await command.ended).toBe(1);
    expect(command.output()).toContain('there is no terminal here to confirm it in');
  }
  const dev = start(binary, ['plugin', 'dev', folder], relay.env);
  closing.defer(() => dev.stop('SIGINT'));
  await expect.poll(() => dev.output()).toContain('nobody reviewed this build');

  expect(await agent.tools()).not.toContain(`${name}__version`);
  expect(await traced(page)).toBe(false);
  expect(await adapters(relay, name)).toEqual([]);
});

for (const added of [true, false])
  test(`what the author of a plugin that was${added ? '' : ' not'} added saves while plugin dev runs is live`, async ({
    sharedStage: stage,
  }) => {
    const { agent, closing, demo, relay } = stage;
    const name = added ? 'trace-in-dev' : 'trace-only-in-dev';
    const folder = added ? await addTrace(stage, name) : await tracePlugin(demo.url, closing, name);
    if (!added) closing.defer(() => relay.tabrelay('plugin', 'remove', name)); // plugin dev is killed
    const version = async () => (await agent.call(`${name}__version`)).said;

    const dev = atTerminal(relay, closing, ['plugin', 'dev', folder], 'yes\n');
    await expect.poll(() => agent.tools()).toContain(`${name}__version`);
    await expect.poll(version).toEqual({ version: 1 });
    for (const next of [2, 3]) {
      await writeFile(path.join(folder, 'src/index.ts'), source(next));
      await expect.poll(version).toEqual({ version: next });
    }
    expect(await relay.tabrelay('plugin', 'list')).toMatch(new RegExp(`^${name} .* dev `, 'm'));

    // It is killed, not asked to end: what it let run ends with it.
    await killCommand(dev);
    await expect.poll(() => agent.tools()).not.toContain(`${name}__version`);
    expect((await agent.call(`${name}__version`)).block).toMatchObject({ code: 'PLUGIN_NOT_REVIEWED' });
  });
