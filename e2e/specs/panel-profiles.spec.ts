// Browser profiles and pairing in the side panel, against the real relay.

import AxeBuilder from '@axe-core/playwright';
import { openBrowser } from '../stage/browser.ts';
import { temporaryFolder } from '../stage/paths.ts';
import { openPanel } from '../stage/side-panel.ts';
import { expect, test } from '../stage/test.ts';

test('the profiles are listed, and another browser can be paired', async ({ stage }) => {
  const panel = await openPanel(stage.browser, 'settings');
  const profiles = panel.getByRole('region', { name: 'Browser profiles' });
  await expect(profiles.getByRole('listitem')).toHaveCount(1);
  await expect(profiles.getByRole('listitem')).toContainText('this one');
  await panel.getByLabel('Profile name').fill('Work');
  await panel.getByRole('button', { name: 'Save' }).click();
  await expect(profiles.getByRole('listitem')).toContainText('Work');

  await panel.getByRole('button', { name: 'Make a pairing string' }).press('Enter');
  await expect(panel.getByText(/^127\.0\.0\.1:\d+\/[0-9a-f]{32}$/)).toBeVisible();
  await expect(panel.getByText(/It works once, for \d min/)).toBeVisible();

  await panel.getByRole('button', { name: 'Replace the pairing secret' }).press('Enter');
  const sure = panel.getByRole('group', { name: /^Replace the pairing secret/ });
  await expect(sure.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await sure.getByRole('button', { name: 'Replace' }).click();
  // The extension in the folder of tabrelay has the new secret, and connects again by itself.
  await expect(panel.getByRole('heading', { level: 1, name: 'Connected' })).toBeVisible();
  await expect(panel.getByText(/^127\.0\.0\.1:\d+\//)).toHaveCount(0);
  expect((await stage.agent.call('demo__hello', { name: 'Ada' })).failed).toBe(false);
});

test('a browser is unpaired by keyboard, stays so, and is paired again', async ({ stage, closing }) => {
  const { relay } = stage;
  const folder = await temporaryFolder('profile', closing);
  const browser = await openBrowser(relay, closing, folder);
  await expect.poll(() => relay.browsers()).toBe(2);
  const panel = await openPanel(browser, 'settings');
  const pairing = panel.getByRole('region', { name: 'Pairing of this browser' });
  const { host } = new URL(await relay.url('/'));
  await expect(pairing).toContainText(host);
  await expect(pairing).toContainText(/Paired since\d/);
  await pairing.getByRole('button', { name: 'Unpair this browser' }).press('Enter');
  const sure = pairing.getByRole('group');
  await expect(sure.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await panel.keyboard.press('Escape');
  await expect(pairing.getByRole('button', { name: 'Unpair this browser' })).toBeFocused();
  expect(await relay.browsers()).toBe(2);
  await panel.keyboard.press('Enter');
  await sure.getByRole('button', { name: 'Unpair' }).press('Enter');
  await expect(panel.getByRole('heading', { level: 1, name: 'Not paired' })).toBeVisible();
  await expect(panel.getByText('You unpaired this browser. Agents can do nothing in it.')).toBeVisible();
  await expect(panel.getByRole('button', { name: 'Pair again' })).toBeFocused();
  expect((await new AxeBuilder({ page: panel }).analyze()).violations).toEqual([]);
  await expect.poll(() => relay.browsers()).toBe(1);
  await browser.close();

  const later = await openBrowser(relay, closing, folder);
  const there = await openPanel(later, 'settings');
  await expect(there.getByText('You unpaired this browser.')).toBeVisible();
  expect(await relay.browsers()).toBe(1);
  await there.getByRole('button', { name: 'Pair again' }).press('Enter');
  await expect(there.getByRole('heading', { level: 1, name: 'Connected' })).toBeVisible();
  await expect(there.getByRole('region', { name: 'Pairing of this browser' })).toContainText(host);
  await expect.poll(() => relay.browsers()).toBe(2);
});

test('a profile that is gone is forgotten, and one that is connected is not', async ({ stage, closing }) => {
  const { relay } = stage;
  const panel = await openPanel(stage.browser, 'settings');
  const profiles = panel.getByRole('region', { name: 'Browser profiles' });
  const other = await openBrowser(relay, closing);
  const there = await openPanel(other, 'settings');
  await there.getByLabel('Profile name').fill('Old laptop');
  await there.getByLabel('Profile name').press('Enter');
  const row = profiles.getByRole('listitem').filter({ hasText: 'Old laptop' });
  await expect(row).toContainText('connected');
  await expect(row.getByRole('button')).toHaveCount(0);
  await other.close();
  await expect(row).toContainText('last seen just now');
  expect(await relay.tabrelay('doctor').catch(String)).toContain('Old laptop');
  await expect(panel.getByText(/attention$/)).toHaveCount(1); // of a relay that asks for no reviews
  await expect(panel.locator('.health')).not.toContainText('Old laptop');
  await row.getByRole('button', { name: 'Forget Old laptop' }).press('Enter');
  await expect(row.getByRole('button', { name: 'Cancel' })).toBeFocused();
  await row.getByRole('button', { name: 'Forget', exact: true }).press('Enter');
  await expect(panel.getByRole('status').first()).toContainText('Old laptop is forgotten.');
  await expect(profiles.getByRole('listitem')).toHaveCount(1);
  await expect(profiles.getByRole('listitem')).toContainText('this one');
  expect(await relay.tabrelay('profiles', 'list')).not.toContain('Old laptop');
});
