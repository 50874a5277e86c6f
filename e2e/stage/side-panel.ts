// The side panel of a real browser with the real worker and relay behind it, opened as a page. Chrome's own surface for
// it has no handle in Playwright; the document, its origin, its script and its port to the worker are the same.

import type { BrowserContext, Locator, Page } from '@playwright/test';
import { extensionId } from './browser.ts';

export async function openPanel(browser: BrowserContext, page = ''): Promise<Page> {
  const panel = await browser.newPage();
  await panel.setViewportSize({ width: 360, height: 720 });
  await panel.goto(`chrome-extension://${await extensionId(browser)}/panel.html${page && `#${page}`}`);
  return panel;
}

/** The questions that wait. */
export const questions = (panel: Page): Locator =>
  panel.getByRole('article').and(panel.locator(':not(.missed)'));

/** The questions that nobody answered in time. */
export const missed = (panel: Page): Locator => panel.locator('article.missed');

/** Shows the answers that are not the first one. */
export const more = (question: Locator): Promise<void> =>
  question.getByRole('button', { name: 'More answers' }).click();

/** What stands at the extension's icon. */
export async function badge(browser: BrowserContext): Promise<string> {
  const worker = browser.serviceWorkers()[0] ?? (await browser.waitForEvent('serviceworker'));
  return worker.evaluate(() => chrome.action.getBadgeText({}));
}
