// What a person does about plugins in the side panel, against the real relay: their settings, adding and removing.

import { execFileSync } from 'node:child_process';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import type { Closing } from '../stage/closing.ts';
import { temporaryFolder } from '../stage/paths.ts';
import { registryOf } from '../stage/registry.ts';
import { openPanel } from '../stage/side-panel.ts';
import { expect, openStage, test } from '../stage/test.ts';

const configSchema = {
  site: { type: 'url', label: 'Address' },
  token: { type: 'string', label: 'Token', description: 'Of your account.' },
  limit: { type: 'number', label: 'At most', default: 20 },
  size: { type: 'select', label: 'Size', options: ['small', 'large'] },
  milk: { type: 'boolean', label: 'With milk' },
};

const source = `
import { definePlugin, defineTool } from '@tabrelay/plugin-sdk';
const given = defineTool({
  name: 'given', description: 'Which settings it was given.', annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {}, additionalProperties: false },
  handle: (_input, { settings }) => ({ settings }),
});
const wait = defineTool({
  name: 'wait', description: 'Waits until it is told to stop.', annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {}, additionalProperties: false },
  handle: (_input, { signal, reportProgress }) => new Promise((_, reject) => {
    reportProgress({ message: 'waits' });
    signal.addEventListener('abort', () => reject(signal.reason));
  }),
});
export default definePlugin({ tools: [given, wait] });
`;

/** Writes the sources of a plugin that works on a site. */
async function sources(site: string, closing: Closing, index = source): Promise<string> {
  const folder = path.join(await temporaryFolder('plugin', closing), 'tea');
  await mkdir(path.join(folder, 'src'), { recursive: true });
  const tabrelay = { displayName: 'Tea', urlPatterns: [`${site}/*`], configSchema };
  const manifest = { name: 'tabrelay-plugin-tea', version: '1.0.0', type: 'module', tabrelay };
  await writeFile(path.join(folder, 'package.json'), JSON.stringify(manifest));
  await writeFile(path.join(folder, 'src/index.ts'), index);
  return folder;
}

const config = { permissions: { default: 'auto' } };

async function accepted(panel: Page): Promise<void> {
  await panel.getByRole('button', { name: 'Accept' }).click();
  await expect(panel.getByRole('tab', { name: 'Plugins' })).toBeFocused();
}

test('settings of a plugin are saved in the panel and reach its next call', async ({ closing }) => {
  const { agent, browser, demo, page, relay } = await openStage(closing, { guarded: true, config });
  await relay.tabrelay('plugin', 'add', await sources(demo.url, closing));
  const panel = await openPanel(browser, 'plugins');
  await panel.getByRole('button', { name: 'Review Tea' }).click();
  await accepted(panel);
  await panel.getByText('2 tools of Tea').click();
  await panel.getByRole('button', { name: 'Settings of Tea' }).click();
  await expect(panel.getByRole('heading', { name: 'Settings of tea' })).toBeFocused();

  const limit = panel.getByLabel('At most');
  const token = panel.getByLabel('Token');
  await expect(token).toHaveAttribute('type', 'password');
  await token.fill('sesame');
  await limit.fill('many');
  await panel.keyboard.press('Enter');
  await expect(limit).toBeFocused();
  await expect(limit).toHaveAccessibleDescription('Expected a number, but got "many".');
  await expect(token).toHaveValue('sesame'); // what was written is kept
  await limit.fill('7');
  await panel.getByLabel('Size').selectOption('large');
  await panel.getByLabel('With milk').check();
  await panel.keyboard.press('Tab');
  await panel.getByRole('button', { name: 'Save' }).press('Enter');
  await expect(panel.getByText('Saved, and in effect.')).toBeVisible();
  await expect(token).toHaveValue('');
  await expect(token).toHaveAttribute('placeholder', 'Set, and not shown');
  await page.reload();
  expect((await agent.call('tea__given')).value).toEqual({
    settings: { token: 'sesame', limit: 7, size: 'large', milk: true },
  });

  // An address adds pages: that is shown before anything is saved, and is not saved by who looks away.
  const site = panel.getByLabel('Address', { exact: true });
  await site.fill('https://*/');
  await panel.getByRole('button', { name: 'Save' }).click();
  await expect(site).toHaveAccessibleDescription(/Expected the address of one site/);
  await site.fill('https://tea.example/');
  await panel.getByRole('button', { name: 'Save' }).click();
  const asked = panel.getByRole('group', { name: /on more pages/ });
  await expect(asked).toContainText('*://tea.example/*');
  await expect(asked.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await panel.keyboard.press('Escape');
  await expect(panel.getByRole('button', { name: 'Save' })).toBeFocused();
  const file = path.join(relay.home, 'config.json');
  expect(await readFile(file, 'utf8')).not.toContain('tea.example');
  await panel.keyboard.press('Enter');
  await asked.getByRole('button', { name: 'Allow and save' }).click();
  await expect(panel.getByText('Saved, and in effect.')).toBeVisible();
  expect(await readFile(file, 'utf8')).toContain('tea.example');
  await expect(panel.getByText(/^It works on .*tea\.example/)).toBeVisible();
});

test('a plugin is removed in the panel: its calls are told, its settings and tools go', async ({
  closing,
}) => {
  const { agent, browser, demo, page, relay } = await openStage(closing, { guarded: true, config });
  await relay.tabrelay('plugin', 'add', await sources(demo.url, closing));
  const panel = await openPanel(browser, 'plugins');
  await panel.getByRole('button', { name: 'Review Tea' }).click();
  await accepted(panel);
  await relay.tabrelay('plugin', 'configure', 'tea', 'limit=3');
  await expect.poll(() => agent.tools()).toContain('tea__wait');
  await page.reload();
  const waiting = agent.call('tea__wait');
  await panel.getByText('2 tools of Tea').click();
  const remove = panel.getByRole('button', { name: 'Remove Tea' });
  await remove.press('Enter');
  const sure = panel.getByRole('group', { name: /^Remove Tea\?/ });
  await expect(sure).toContainText(
    'Agents lose its 2 tools at once. 1 call of it that runs now will be cancelled.',
  );
  await expect(sure.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await panel.keyboard.press('Escape');
  await expect(remove).toBeFocused();
  await panel.keyboard.press('Enter');
  await sure.getByRole('button', { name: 'Remove' }).click();
  expect((await waiting).code).toBe('CANCELLED');
  await expect(remove).toHaveCount(0);
  await expect.poll(() => agent.tools()).not.toContain('tea__wait');
  expect(await readFile(path.join(relay.home, 'config.json'), 'utf8')).not.toContain('tea');
  // What comes with tabrelay cannot be removed.
  await panel.getByRole('searchbox').fill('demo__hello');
  await panel.getByText(/^\d+ tools? of/).click();
  await expect(panel.getByRole('button', { name: /^Remove/ })).toHaveCount(0);
});

test('a plugin is added from a folder in the panel, reviewed there, and called', async ({ closing }) => {
  const { agent, browser, demo, page } = await openStage(closing, { guarded: true, config });
  const panel = await openPanel(browser, 'plugins');
  await panel.getByText('Add a plugin').press('Enter');
  const where = panel.getByLabel('Where it is');
  await where.fill('tea/');
  await panel.keyboard.press('Enter');
  await expect(panel.getByRole('alert')).toContainText('Write the whole path');

  const broken = await sources(demo.url, closing, `${source}\nimport { none } from './none.ts';\nnone();\n`);
  await where.fill(broken);
  await panel.keyboard.press('Enter');
  const alert = panel.getByRole('alert');
  await expect(alert).toContainText(/src\/index\.ts:\d+:\d+/);
  expect((await alert.innerText()).match(/none\.ts/g)?.length, 'the error is said once').toBeLessThanOrEqual(
    3,
  );
  await alert.getByRole('button', { name: 'Close' }).click();
  await expect(alert).toHaveCount(0);

  await where.fill(await sources(demo.url, closing));
  await panel.keyboard.press('Enter');
  await expect(panel.getByRole('heading', { name: 'Review: Tea' })).toBeFocused();
  expect(await agent.tools()).not.toContain('tea__given');
  await accepted(panel);
  await expect.poll(() => agent.tools()).toContain('tea__given');
  await page.reload();
  expect((await agent.call('tea__given')).value).toEqual({ settings: { limit: 20 } });
});

test('a plugin of the index is offered for the page that is open, reviewed and called', async ({
  closing,
}) => {
  const { agent, browser, demo, page, relay } = await openStage(closing, { guarded: true, config });
  const repository = path.dirname(await sources(demo.url, closing));
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b.example', ...args], { cwd: repository });
  git('init', '-q');
  git('add', '-A');
  git('commit', '-q', '-m', 'Add the tea shop');
  await relay.tabrelay('plugin', 'index', `git+file://${repository}`);
  expect(await relay.tabrelay('plugin', 'search', 'given', '--local')).toMatch(/^tea +1\.0\.0 .* 2 tools$/m);
  expect(await agent.tools()).not.toContain('tea__given');

  const panel = await openPanel(browser, 'plugins');
  const offered = panel.getByRole('list', { name: 'For pages that are open' });
  await expect(offered).toContainText(`2 tools for ${new URL(demo.url).host}, from git+file://`);
  await offered.getByRole('button', { name: 'Add tea' }).click();
  await expect(panel.getByRole('heading', { name: 'Review: Tea' })).toBeFocused();
  expect(await agent.tools()).not.toContain('tea__given');
  await accepted(panel);
  await expect.poll(() => agent.tools()).toContain('tea__given');
  await expect(offered).toHaveCount(0);
  await page.reload();
  expect((await agent.call('tea__given')).value).toEqual({ settings: { limit: 20 } });
});

test('a plugin is added from a tarball and a registry in the panel; what does not come is stopped', async ({
  closing,
}) => {
  const { agent, browser, demo, page, relay } = await openStage(closing, { guarded: true, config });
  const npmrc = path.join(relay.home, 'npmrc');
  relay.env.npm_config_userconfig = npmrc;
  await relay.down();
  await relay.start();
  const folder = await sources(demo.url, closing);
  await relay.tabrelay('plugin', 'pack', folder, '--out', path.dirname(folder));
  const tarball = path.join(path.dirname(folder), 'tabrelay-plugin-tea-1.0.0.tgz');
  const registry = async (silent: boolean) =>
    writeFile(npmrc, `registry=${await registryOf(await readFile(tarball), closing, silent)}/\n`);
  const panel = await openPanel(browser, 'plugins');
  const where = panel.getByLabel('Where it is');
  const add = async (from: string) => {
    if (!(await where.isVisible())) await panel.getByText('Add a plugin').press('Enter');
    await where.fill(from);
    await panel.keyboard.press('Enter');
  };
  const used = async () => {
    await expect.poll(() => agent.tools()).toContain('tea__given');
    await page.reload();
    expect((await agent.call('tea__given')).value).toEqual({ settings: { limit: 20 } });
  };
  await add(tarball);
  await expect(panel.getByRole('heading', { name: 'Review: Tea' })).toBeFocused();
  await accepted(panel);
  await used();
  await relay.tabrelay('plugin', 'remove', 'tea');
  await expect.poll(() => agent.tools()).not.toContain('tea__given');

  await registry(true);
  await add('tabrelay-plugin-tea');
  await expect(panel.getByRole('progressbar', { name: 'Adding the plugin' })).toBeVisible();
  await panel.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(panel.getByRole('progressbar')).toHaveCount(0);
  await expect(where).toHaveValue('tabrelay-plugin-tea'); // to be changed, or added again
  expect(await relay.tabrelay('plugin', 'list')).not.toContain('tea');

  await registry(false);
  await add('tabrelay-plugin-tea');
  await expect(panel.getByText('tea is added. You reviewed it before.')).toBeVisible();
  await used();
});
