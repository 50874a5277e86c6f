// The pages of the side panel against the real relay: what they show is what is there, and what they do is done.

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { httpAgent } from '../stage/agent.ts';
import { temporaryFolder } from '../stage/paths.ts';
import { openPanel } from '../stage/side-panel.ts';
import { expect, openStage, test } from '../stage/test.ts';

test('a call that runs is seen with its progress, and can be cancelled', async ({ stage }) => {
  const panel = await openPanel(stage.browser);
  const slow = stage.agent.call('trouble__slow', { ms: 60_000, steps: 60 });
  const cancel = panel.getByRole('button', { name: /^Cancel .* of stdio$/ });
  await expect(cancel).toBeVisible();
  await expect(panel.getByRole('progressbar')).toBeVisible();
  await cancel.click();
  const answer = await slow;
  expect(answer.code).toBe('CANCELLED');
  await expect(cancel).toHaveCount(0);
  await expect(panel.getByRole('listitem').filter({ hasText: 'trouble__slow' })).toContainText('CANCELLED');
});

test('turning a tool off in the panel takes it from agents, and turning it on gives it back', async ({
  closing,
}) => {
  const { agent, browser } = await openStage(closing, { guarded: true });
  const panel = await openPanel(browser, 'plugins');
  await panel.getByRole('searchbox').fill('demo__hello');
  await panel.getByText(/^\d+ tools? of/).click();
  const permission = panel.getByRole('combobox', { name: /^Permission of Say hello/ });
  await expect(permission).toHaveValue('auto');
  await permission.selectOption('off');
  await expect.poll(() => agent.tools()).not.toContain('demo__hello');
  await expect(permission).toHaveValue('off');
  await permission.selectOption('auto');
  await expect.poll(() => agent.tools()).toContain('demo__hello');

  await panel.getByRole('tab', { name: 'Rules' }).click();
  await expect(panel.getByRole('listitem').filter({ hasText: 'demo__hello' })).toContainText('Allow');
});

test('a rule made in the panel holds, and ends when it is removed', async ({ closing }) => {
  const { agent, browser } = await openStage(closing, { guarded: true });
  const panel = await openPanel(browser, 'rules');
  await panel.getByText('New rule').click();
  await panel.getByRole('combobox', { name: 'For' }).fill('demo');
  await panel.getByRole('combobox', { name: 'Permission' }).selectOption('off');
  await panel.getByRole('button', { name: 'Add the rule' }).click();
  await expect.poll(() => agent.tools()).not.toContain('demo__hello');
  await panel.getByRole('button', { name: 'Remove the rule for demo' }).click();
  await panel.getByRole('group').getByRole('button', { name: 'Remove' }).click();
  await expect.poll(() => agent.tools()).toContain('demo__hello');

  await panel.getByRole('combobox', { name: 'For' }).fill('no_such_plugin__no_such_tool');
  await panel.getByRole('button', { name: 'Add the rule' }).click();
  await expect(panel.getByRole('alert')).toBeVisible();
});

const source = `
import { definePlugin, defineTool } from '@tabrelay/plugin-sdk';
const version = defineTool({
  name: 'version', description: 'Which version answers.', annotations: { readOnlyHint: true },
  input: { type: 'object', properties: {}, additionalProperties: false },
  handle: () => ({ version: 1 }),
});
export default definePlugin({ tools: [version] });
`;

test('a new plugin waits in the panel, is read there, and runs when it was accepted', async ({ closing }) => {
  const config = { permissions: { default: 'auto' } };
  const { agent, browser, demo, page, relay } = await openStage(closing, { guarded: true, config });
  const panel = await openPanel(browser, 'plugins');
  const folder = path.join(await temporaryFolder('plugin', closing), 'trial');
  await mkdir(path.join(folder, 'src'), { recursive: true });
  const tabrelay = { displayName: 'Trial', urlPatterns: [`${demo.url}/*`] };
  const manifest = { name: 'tabrelay-plugin-trial', version: '1.0.0', type: 'module', tabrelay };
  await writeFile(path.join(folder, 'package.json'), JSON.stringify(manifest));
  await writeFile(path.join(folder, 'src/index.ts'), source);
  await relay.tabrelay('plugin', 'add', folder);

  await panel.getByRole('button', { name: 'Review Trial' }).click();
  await expect(panel.getByRole('heading', { name: 'Review: Trial' })).toBeFocused();
  await expect(panel.getByText('It was never reviewed before.')).toBeVisible();
  await panel.locator('summary').filter({ hasText: 'src/index.ts' }).click();
  await expect(panel.getByText('Which version answers.').last()).toBeVisible();
  expect(await agent.tools()).not.toContain('trial__version');
  await panel.getByRole('button', { name: 'Accept' }).click();
  await expect(panel.getByRole('tab', { name: 'Plugins' })).toBeFocused();
  await expect.poll(() => agent.tools()).toContain('trial__version');
  await page.reload();
  expect((await agent.call('trial__version')).value).toEqual({ version: 1 });
});

test('the log shows what happened, can be taken away, and is checked', async ({ stage }) => {
  await stage.agent.call('demo__hello', { name: 'Ada' });
  await stage.agent.call('trouble__throw_tool_error', { factory: 'rate_limited' });
  const panel = await openPanel(stage.browser, 'log');
  const entries = panel.getByRole('listitem');
  await expect(entries.filter({ hasText: 'demo__hello' })).toContainText('done');
  await expect(entries.filter({ hasText: 'trouble__throw_tool_error' })).toContainText('Too many requests');
  await panel.getByRole('combobox', { name: 'How it ended' }).selectOption('returned');
  await expect(entries.filter({ hasText: 'trouble__throw_tool_error' })).toHaveCount(0);
  await expect(entries.filter({ hasText: 'demo__hello' })).toHaveCount(1);
  for (const [label, format] of [
    ['Save as CSV', 'csv'],
    ['Save as JSON Lines', 'jsonl'],
  ] as const) {
    const download = panel.waitForEvent('download');
    await panel.getByRole('button', { name: label }).click();
    const file = await download;
    expect(file.suggestedFilename()).toBe(`tabrelay-audit.${format}`);
    expect(await readFile(await file.path(), 'utf8')).toContain('demo__hello');
  }
  await panel.getByRole('button', { name: 'Check the log' }).click();
  await expect(panel.getByText(/^Nothing was changed: all \d+ entries/)).toBeVisible();
});

test('the log is taken away whole, also where it does not fit into one answer', async ({ stage }) => {
  const count = 1100; // the relay answers with a thousand at once
  for (let made = 0; made < count; made += 50) {
    await Promise.all(Array.from({ length: 50 }, () => stage.agent.call('bridge_health')));
  }
  const panel = await openPanel(stage.browser, 'log');
  await panel.getByRole('combobox', { name: 'What', exact: true }).selectOption('call');
  for (const label of ['Save as CSV', 'Save as JSON Lines']) {
    const download = panel.waitForEvent('download');
    await panel.getByRole('button', { name: label }).click();
    const text = await readFile(await (await download).path(), 'utf8');
    const lines = text.trimEnd().split('\n');
    expect(lines.filter((line) => line.includes('bridge_health'))).toHaveLength(count);
    expect(lines.filter((line) => line.startsWith('n,'))).toHaveLength(label.endsWith('CSV') ? 1 : 0);
    expect(new Set(lines).size, 'each once').toBe(lines.length);
    await expect(panel.getByText('The file is complete.')).toBeVisible();
  }
});

test('a client is listed with what it may use, and is shut out', async ({ stage }) => {
  const token = await stage.relay.token();
  const panel = await openPanel(stage.browser, 'clients');
  const client = panel.getByRole('listitem').filter({ hasText: 'e2e-1' });
  await expect(client).toContainText('never seen');
  const ask = async () => {
    const headers = { authorization: `Bearer ${token}` };
    return (await fetch(await stage.relay.url('/api/v1/tools'), { headers })).status;
  };
  expect(await ask()).toBe(200);
  await client.getByRole('button', { name: 'Revoke e2e-1' }).click();
  await client.getByRole('button', { name: 'Revoke', exact: true }).click();
  await expect(client).toHaveCount(0);
  expect(await ask()).toBe(401);
});

test('what a client may use is changed', async ({ stage }) => {
  const token = (await stage.relay.person('clients', 'add', 'web')).trim();
  const panel = await openPanel(stage.browser, 'clients');
  const agent = await httpAgent(stage.relay, token, stage.closing);
  const offered = async () => (await agent.tools()).filter((name) => /^(demo|browser)__/.test(name));
  expect(await offered()).toEqual(expect.arrayContaining(['demo__counter_increment', 'browser__open_tab']));
  const client = panel.getByRole('listitem').filter({ hasText: 'web' });
  const change = client.getByLabel('Change what web may use');
  await change.focus();
  await panel.keyboard.press('Enter');
  await client.getByLabel('Only tools that change nothing').check();
  await client.getByLabel('All, also those that are added later').uncheck();
  await client.getByLabel('Demo site', { exact: true }).check();
  await client.getByRole('button', { name: 'Save what web may use' }).press('Enter');
  await expect(client.getByText('May use reads only · plugins: demo')).toBeVisible();
  await expect(change).toBeFocused();
  const names = await offered();
  expect(names).toContain('demo__hello');
  expect(names).not.toContain('demo__counter_increment');
  expect(names.filter((name) => name.startsWith('browser__'))).toEqual([]);
  await change.press('Enter');
  await client.getByLabel('Demo site', { exact: true }).uncheck();
  await client.getByRole('button', { name: 'Save what web may use' }).press('Enter');
  await expect(client.getByText('May use reads only · plugins: none')).toBeVisible();
  expect(await offered()).toEqual([]);
});

test('the person names the profile', async ({ stage }) => {
  const panel = await openPanel(stage.browser, 'settings');
  await panel.getByLabel('Profile name').fill('Work');
  await panel.getByRole('button', { name: 'Save' }).click();
  await expect(panel.getByText('Profile Work')).toBeVisible();
  // The panel and the relay are told at the same time.
  await expect
    .poll(async () => (await stage.agent.call('demo__hello', { name: 'Ada' })).meta)
    .toMatchObject({ 'tabrelay/call': { profile: 'Work' } });
});

test('a tab that an agent holds is listed with its owner, and taken back', async ({ closing }) => {
  const { agent, browser } = await openStage(closing, { owned: true });
  const panel = await openPanel(browser);
  expect((await agent.call('demo__counter_increment', { name: 'held', by: 1 })).failed).toBe(false);
  const held = panel.getByRole('region', { name: 'Tabs in use' }).getByRole('listitem');
  await expect(held).toHaveCount(1);
  await expect(held).toContainText('stdio');
  await held.getByRole('button', { name: /^Release/ }).click();
  await expect(panel.getByText('No tabs in use.')).toBeVisible();
});
