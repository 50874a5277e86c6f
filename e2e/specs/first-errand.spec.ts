// What a newcomer meets who configured nothing: the demo says hello unasked, and its counter asks once.

import { openPanel, questions } from '../stage/side-panel.ts';
import { expect, openStage, test } from '../stage/test.ts';

test('the first errand asks once, and offers to tell of questions while the panel is closed', async ({
  closing,
}) => {
  const { agent, browser, page } = await openStage(closing, { guarded: true });
  expect((await agent.call('demo__hello')).failed).toBe(false);
  const panel = await openPanel(browser);
  const raised = agent.call('demo__counter_increment', { name: 'demo', by: 3 });
  const offer = panel.getByRole('region', { name: 'Turn on notifications' });
  await expect(offer).toContainText('while this panel is closed');
  const allow = questions(panel).getByRole('button', { name: 'Allow for this session' });
  await expect(allow).toBeEnabled();
  await allow.click();
  expect((await raised).failed).toBe(false);
  await expect(page.locator('#count')).toHaveText('3');
  await expect(
    panel.getByText(/^Allowed for this session: stdio may make changes in Demo site on /).first(),
  ).toContainText('until it disconnects or an hour passes without a call.');
  await offer.getByRole('button', { name: 'No, thanks' }).click();
  await expect(offer).toHaveCount(0);
  expect((await agent.call('demo__counter_increment', { name: 'demo', by: 1 })).failed).toBe(false);
  await expect(page.locator('#count')).toHaveText('4');
  await panel.reload();
  await expect(panel.getByRole('tab', { name: 'Now' })).toBeVisible();
  await expect(offer).toHaveCount(0);
});
