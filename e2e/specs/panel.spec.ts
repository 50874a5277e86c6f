// What a person sees: the side panel with the connection and the last calls. With TABRELAY_SCREENSHOTS=FOLDER the
// pictures of the README are taken.

import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { Page } from '@playwright/test';
import { openBrowser } from '../stage/browser.ts';
import { openPanel } from '../stage/side-panel.ts';
import { expect, test } from '../stage/test.ts';

async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.TABRELAY_SCREENSHOTS;
  if (folder !== undefined) await page.screenshot({ path: path.join(folder, name) });
}

test('the panel shows the connection, and who made the last calls with what came of them', async ({
  stage,
}) => {
  const { agent, browser, page } = stage;
  await agent.call('demo__hello', { name: 'Ada' });
  await agent.call('demo__counter_increment', { name: 'demo', by: 3 });
  await agent.call('trouble__throw_tool_error', { factory: 'rate_limited' });

  const panel = await openPanel(browser);
  await expect(panel.getByRole('status')).toHaveText('Connected');
  const calls = panel.getByRole('region', { name: 'Last calls' }).getByRole('listitem');
  await expect(calls).toHaveCount(3);
  await expect(calls.nth(2)).toContainText('Say hello');
  await expect(calls.nth(1)).toContainText('Raise counter');
  await expect(calls.nth(0)).toContainText('Too many requests');
  for (const call of await calls.all()) await expect(call).toContainText('stdio');
  await calls.nth(0).locator('summary').click();
  await expect(calls.nth(0)).toContainText('Too many requests');
  await picture(panel, 'panel.png');

  await page.bringToFront();
  await page.setViewportSize({ width: 760, height: 560 });
  await picture(page, 'demo-site.png');
});

test('the last calls outlive the extension: they are those of the audit log', async ({ stage }) => {
  const { agent, browser, relay } = stage;
  await agent.call('demo__hello', { name: 'Ada' });
  await browser.close(); // and with it all that the extension remembers of a session
  const panel = await openPanel(await openBrowser(relay, stage.closing));
  const calls = panel.getByRole('region', { name: 'Last calls' }).getByRole('listitem');
  await expect(calls).toHaveCount(1);
  await expect(calls).toContainText('stdio');
  const host = new URL(await relay.url('/')).host;
  await panel.getByRole('button', { name: 'Settings' }).click();
  await expect(panel.getByRole('definition').filter({ hasText: host })).toBeVisible();
});

test('Now says who acts where, in plain words, and takes the person to the tab', async ({ stage }) => {
  const { agent, browser, page } = stage;
  const panel = await openPanel(browser);
  const going = agent.call('trouble__slow', { ms: 60_000 });
  const acting = panel.getByRole('region', { name: 'Acting now' }).getByRole('listitem');
  await expect(acting).toHaveCount(1);
  await expect(acting).toContainText('stdio');
  await expect(acting).toContainText('Reading');
  await expect(acting).toContainText(new URL(page.url()).host);
  await expect(acting.locator('q')).toHaveText(await page.title());
  const color = await acting.locator('.avatar').evaluate((avatar) => avatar.className.split(' ')[1]);
  await panel.getByRole('tab', { name: 'Log' }).click();
  await panel.getByRole('tab', { name: 'Now' }).click();
  await expect(acting.locator('.avatar')).toHaveClass(`avatar ${color}`);
  const shown = () => page.evaluate(() => document.visibilityState);
  await panel.bringToFront();
  await acting.getByRole('button', { name: /^Go to the tab/ }).click();
  await expect.poll(shown).toBe('visible');
  await acting.getByRole('button', { name: /^Cancel/ }).click();
  expect((await going).code).toBe('CANCELLED');
  await expect(panel.getByText('No agent is doing anything.')).toBeVisible();
});

test('when the relay is gone the panel says so, and what to do', async ({ stage }) => {
  const panel = await openPanel(stage.browser);
  await expect(panel.getByRole('status')).toHaveText('Connected');
  await stage.relay.tabrelay('down');
  await expect(panel.getByRole('status')).toHaveText('Not connected');
  const line = `${stage.relay.binary} up`; // it is in no folder of PATH
  await expect(panel.getByText(line, { exact: true })).toBeVisible();
  await expect(panel.getByRole('button', { name: 'Connect now' })).toBeVisible();
});

test('what the doctor finds is in the panel, with the next step', async ({ stage }) => {
  const panel = await openPanel(stage.browser); // of a relay that asks for no reviews
  await panel.getByText(/attention$/).click();
  const finding = panel.getByRole('listitem').filter({ hasText: 'Plugins run without anybody' });
  await expect(finding).toContainText('Remove review.required from config.json');
});

test('what tabrelay can repair has a button: a setting that waits for a restart is in effect', async ({
  stage: { browser, relay, closing },
}) => {
  const panel = await openPanel(browser);
  const before = (await relay.announced())?.pid;
  const file = path.join(relay.home, 'config.json');
  await relay.configure({ ...JSON.parse(await readFile(file, 'utf8')), timeoutMs: 21_000 });
  await expect.poll(() => relay.tabrelay('status', '--json')).toContain('timeoutMs');
  await panel.reload();
  await panel.getByText(/attention$/).click();
  const finding = panel.getByRole('listitem').filter({ hasText: 'In config.json, but not in effect yet' });
  await expect(finding).toContainText('Restarts the relay, unless calls are running.');
  closing.defer(async () => void (await relay.tabrelay('down'))); // the next one is no process of this test
  await finding.getByRole('button', { name: /^Fix: In config.json/ }).click();
  await expect.poll(async () => (await relay.announced())?.pid).not.toBe(before);
  await expect(panel.getByRole('status')).toHaveText('Connected');
  await panel.getByText(/attention$/).click();
  await expect(finding).toHaveCount(0);
  await expect.poll(() => relay.tabrelay('status', '--json')).not.toContain('timeoutMs');
});
