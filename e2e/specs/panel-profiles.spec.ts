// Browser profiles and pairing in the side panel, against the real relay.

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
