// What a person sees and does without an open panel: notifications, the icon, and keyboard shortcuts. Chrome's own
// surfaces for them have no handle in Playwright, so their events are dispatched in the worker, as Chrome does it.

import type { BrowserContext } from '@playwright/test';
import { openSite } from '../sites/own-pages.ts';
import { Acting } from '../stage/acting.ts';
import { allowNotifications, workerOf } from '../stage/notifications.ts';
import { badge, openPanel, questions } from '../stage/side-panel.ts';
import { expect, openStage, type Stage, test, visit } from '../stage/test.ts';

const config = { permissions: { demo: 'ask' } };

const openNotified = (closing: Stage['closing']): Promise<Stage> =>
  openStage(closing, { guarded: true, config, beforeBrowser: allowNotifications });

const shown = async (browser: BrowserContext): Promise<string[]> => {
  const worker = await workerOf(browser);
  const all = await worker.evaluate(() => chrome.notifications.getAll());
  return Object.keys(all);
};

const increment = ({ agent }: Stage, by = 1) =>
  agent.call('demo__counter_increment', { name: 'outside', by });

/** Presses a button of a notification, or the notification itself. */
async function press(browser: BrowserContext, id: string, button?: number): Promise<void> {
  const worker = await workerOf(browser);
  await worker.evaluate(
    ([notification, at]) => {
      const { onButtonClicked, onClicked } = chrome.notifications;
      if (at === undefined) Reflect.apply(Reflect.get(onClicked, 'dispatch'), onClicked, [notification]);
      else Reflect.apply(Reflect.get(onButtonClicked, 'dispatch'), onButtonClicked, [notification, at]);
    },
    [id, button] as const,
  );
}

async function shortcut(browser: BrowserContext, name: string): Promise<void> {
  const worker = await workerOf(browser);
  await worker.evaluate((command) => {
    const { onCommand } = chrome.commands;
    Reflect.apply(Reflect.get(onCommand, 'dispatch'), onCommand, [command]);
  }, name);
}

test('a notification denies the question that it shows, and no other one', async ({ closing }) => {
  const stage = await openNotified(closing);
  const { browser } = stage;
  const first = increment(stage, 1);
  await expect.poll(() => shown(browser)).toHaveLength(1);
  const [notification = ''] = await shown(browser);
  const second = increment(stage, 2);
  await expect.poll(() => shown(browser)).toHaveLength(2);
  await expect.poll(() => badge(browser)).toBe('2');
  await press(browser, notification, 0);
  expect((await first).code).toBe('APPROVAL_DENIED');
  await expect.poll(() => shown(browser)).toHaveLength(1);
  expect(await shown(browser)).not.toContain(notification);

  const panel = await openPanel(browser); // what is open shows its questions itself
  await expect.poll(() => shown(browser)).toEqual([]);
  await questions(panel).getByRole('button', { name: 'Allow once' }).click();
  expect((await second).failed).toBe(false);
});

test('a notification about an act says what will be done to what, and where', async ({ closing }) => {
  const stage = await openStage(closing, {
    guarded: true,
    config: { permissions: { browser__snapshot: 'auto' } },
    beforeBrowser: allowNotifications,
  });
  const site = await openSite(closing, {
    shop: '<!doctype html><title>Shop</title><button>Pay now</button>',
  });
  await visit(stage, `${site}/shop`);
  const ref = await new Acting(stage.agent).ref('button "Pay now"');
  const worker = await workerOf(stage.browser);
  await worker.evaluate(() => {
    const { create } = chrome.notifications;
    Reflect.set(chrome.notifications, 'create', (id: string, given: { message: string }) => {
      Reflect.set(globalThis, 'told', given.message);
      return Reflect.apply(create, chrome.notifications, [id, given]);
    });
  });
  const call = stage.agent.call('browser__click', { ref });
  await expect
    .poll(() => worker.evaluate(() => Reflect.get(globalThis, 'told')))
    .toBe(`Click button "Pay now" on ${site}? It can change something.`);
  await expect.poll(() => shown(stage.browser)).toHaveLength(1);
  const [notification = ''] = await shown(stage.browser);
  await press(stage.browser, notification, 0);
  expect((await call).code).toBe('APPROVAL_DENIED');
});

test('who denies a question that is over is told so, and nothing else is answered', async ({ closing }) => {
  const stage = await openNotified(closing);
  const { browser } = stage;
  const first = increment(stage);
  await expect.poll(() => shown(browser)).toHaveLength(1);
  const [notification = ''] = await shown(browser);
  await stage.relay.tabrelay('permit', 'deny', notification.replace('question ', ''));
  expect((await first).code).toBe('APPROVAL_DENIED');
  await expect.poll(() => shown(browser)).toEqual([]);
  const second = increment(stage);
  await expect.poll(() => shown(browser)).toHaveLength(1);
  await press(browser, notification, 0);
  await expect.poll(() => shown(browser)).toContain('result');
  const panel = await openPanel(browser);
  await expect(questions(panel)).toHaveCount(1);
  await questions(panel).getByRole('button', { name: 'Deny' }).click();
  expect((await second).code).toBe('APPROVAL_DENIED');
});

test('Open shows the question in the panel, or how it ended', async ({ closing }) => {
  const stage = await openNotified(closing);
  const { browser } = stage;
  const asked = [increment(stage, 1), increment(stage, 2)];
  await expect.poll(() => shown(browser)).toHaveLength(2);
  const [, later = ''] = await shown(browser);
  const id = later.replace('question ', '');
  let opened = browser.waitForEvent('page');
  await press(browser, later, 1);
  let panel = await opened; // without a key press of a person Chrome opens no side panel, but a window
  const question = panel.locator(`article[data-id="${id}"]`);
  await expect(question).toBeFocused();
  for (const each of await questions(panel).all())
    await each.getByRole('button', { name: 'Deny' }).click({ trial: true });
  while ((await questions(panel).count()) > 0) {
    const count = await questions(panel).count();
    await questions(panel).first().getByRole('button', { name: 'Deny' }).click();
    await expect(questions(panel)).toHaveCount(count - 1);
  }
  await Promise.all(asked);
  await panel.close();

  opened = browser.waitForEvent('page');
  await press(browser, later, 1);
  panel = await opened;
  await expect(panel.locator('.notes')).toContainText(
    'The question is closed: it was denied in the side panel.',
  );
});

test('a shortcut stops everything, as the panel does; Chrome gives both the keys that are suggested', async ({
  closing,
}) => {
  const stage = await openStage(closing, { guarded: true, config });
  const { browser } = stage;
  const panel = await openPanel(browser, 'settings');
  for (const [what, keys] of [
    ['Open or close this panel', 'Alt+Shift+O'],
    ['Stop everything that agents do', 'Alt+Shift+S'],
  ] as const)
    await expect(panel.locator('dl > div').filter({ hasText: what })).toContainText(keys);

  const asked = increment(stage);
  await expect(questions(panel)).toBeVisible();
  await shortcut(browser, 'stop-everything');
  await expect(panel.getByRole('button', { name: 'Resume' })).toBeVisible();
  expect((await asked).failed).toBe(true);
  expect((await increment(stage)).failed).toBe(true);
  await expect.poll(() => badge(browser)).toBe('II');
  await panel.getByRole('button', { name: 'Resume' }).click();
  await expect.poll(() => badge(browser)).toBe('');
});

test('Chrome warns of nothing more for the icons of sites', async ({ sharedStage: { browser } }) => {
  const panel = await openPanel(browser);
  const warnings = (permissions: readonly string[]) =>
    panel.evaluate(
      (list) =>
        chrome.management.getPermissionWarningsByManifest(
          JSON.stringify({
            ...chrome.runtime.getManifest(),
            permissions: list,
            host_permissions: ['<all_urls>'],
          }),
        ),
      permissions,
    );
  const asked = await panel.evaluate(() => chrome.runtime.getManifest().permissions ?? []);
  expect(asked).toContain('favicon');
  expect(await warnings(asked)).toEqual(await warnings(asked.filter((one) => one !== 'favicon')));
});
