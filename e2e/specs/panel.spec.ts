// What a person sees: the side panel with the connection and the last calls. With TABRELAY_SCREENSHOTS=FOLDER the
// pictures of the README are taken.

import path from 'node:path';
import type { Page } from '@playwright/test';
import { openPanel } from '../stage/side-panel.ts';
import { expect, test } from '../stage/test.ts';

async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env.TABRELAY_SCREENSHOTS;
  if (folder !== undefined) await page.screenshot({ path: path.join(folder, name) });
}

test('the panel shows the connection, and each call with its end as the agent read it', async ({ stage }) => {
  const { agent, browser, page, relay } = stage;
  await agent.call('demo__hello', { name: 'Ada' });
  await agent.call('demo__counter_increment', { name: 'demo', by: 3 });
  await agent.call('trouble__throw_tool_error', { factory: 'rate_limited' });

  const panel = await openPanel(browser);
  await expect(panel.getByRole('status')).toHaveText('Connected');
  await expect(panel.getByText(`listening at ${new URL(await relay.url('/')).host}`)).toBeVisible();
  const calls = panel.getByRole('region', { name: 'Last calls in this browser' }).getByRole('listitem');
  await expect(calls).toHaveCount(3);
  await expect(calls.nth(2)).toContainText('demo__hello');
  await expect(calls.nth(1)).toContainText('demo__counter_increment');
  await expect(calls.nth(0)).toContainText('RATE_LIMITED');
  await calls.nth(0).locator('summary').click();
  await expect(calls.nth(0).locator('pre')).toContainText(
    '[ERROR code=RATE_LIMITED category=rate_limit retryable=true retryAfterMs=2000] Too many requests',
  );
  await picture(panel, 'panel.png');

  await page.bringToFront();
  await page.setViewportSize({ width: 760, height: 560 });
  await picture(page, 'demo-site.png');
});

test('when the relay is gone the panel says so, and what to do', async ({ stage }) => {
  const panel = await openPanel(stage.browser);
  await expect(panel.getByRole('status')).toHaveText('Connected');
  await stage.relay.tabrelay('down');
  await expect(panel.getByRole('status')).toHaveText('Not connected');
  await expect(panel.getByText('tabrelay up')).toBeVisible();
  await expect(panel.getByRole('button', { name: 'Connect now' })).toBeVisible();
});

test('what the doctor finds is in the panel, with the next step', async ({ stage }) => {
  const panel = await openPanel(stage.browser); // of a relay that asks for no reviews
  await panel.getByText(/attention$/).click();
  const finding = panel.getByRole('listitem').filter({ hasText: 'Plugins run without anybody' });
  await expect(finding).toContainText('Next: remove review.required from config.json');
});
