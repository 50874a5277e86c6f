// A new person: the extension is just installed, and its first page leads to the result of the first call. What a
// person does is counted; what they would type into a terminal is run by the test.

import AxeBuilder from '@axe-core/playwright';
import type { BrowserContext, Locator, Page } from '@playwright/test';
import { openBrowser } from '../stage/browser.ts';
import { unpairedEdition } from '../stage/edition.ts';
import { temporaryFolder } from '../stage/paths.ts';
import { openRelay } from '../stage/relay.ts';
import { openPanel } from '../stage/side-panel.ts';
import { expect, test } from '../stage/test.ts';

/** The page that opened by itself. What it writes to its console as an error is kept. */
async function firstPage(browser: BrowserContext): Promise<{ page: Page; errors: string[] }> {
  const isFirst = (page: Page) => page.url().endsWith('/panel.html#setup');
  await expect.poll(() => browser.pages().filter(isFirst).length).toBe(1);
  const page = browser.pages().find(isFirst);
  if (page === undefined) throw new Error('the first page was closed');
  const errors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && errors.push(message.text()));
  page.on('pageerror', (error) => errors.push(String(error)));
  return { page, errors };
}

/** A person, whose clicks are counted. */
class Person {
  clicks = 0;
  readonly #began = Date.now();

  async press(button: Locator): Promise<void> {
    this.clicks++;
    await button.click();
  }

  get account(): string {
    return `${this.clicks} clicks, ${((Date.now() - this.#began) / 1000).toFixed(1)} s`;
  }
}

const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 3 });
const firstCall = (page: Page) => page.getByRole('button', { name: 'Make the first call' });
const greeting = /Hello, .*This answer comes from a page in your own browser/;

const demoTabs = (browser: BrowserContext) =>
  browser.pages().filter((page) => page.url().startsWith('http://127.0.0.1')).length;

test('with tabrelay installed and stopped: two clicks to the first result', async ({ closing }) => {
  const relay = await openRelay(closing);
  const extension = await unpairedEdition(relay, closing);
  const profile = await temporaryFolder('profile', closing);
  await relay.person('native-host', 'add', '--user-data-dir', profile);
  // The extension of a store has the demo's script for the usual address; here that stays as the copy has it.
  const { demo } = JSON.parse(await relay.tabrelay('status', '--json'));
  await relay.configure({ listen: '127.0.0.1:0', demo: { listen: new URL(demo).host } });
  await relay.down();
  const person = new Person();
  const browser = await openBrowser({ extension }, closing, profile);
  const { page, errors } = await firstPage(browser);
  await person.press(page.getByRole('button', { name: 'Start tabrelay' }));
  await person.press(firstCall(page));
  await expect(page.getByText(greeting)).toBeVisible();
  expect(person.clicks).toBeLessThanOrEqual(4);
  console.log(`onboarding: ${person.account}`);

  await expect(heading(page, 'Make a first call (done)')).toBeVisible();
  await expect(page.getByText('Say hello on the tabrelay demo site')).toBeVisible();
  expect(await page.evaluate(() => document.visibilityState)).toBe('visible');
  expect(demoTabs(browser)).toBe(1);
  await page.getByRole('button', { name: 'Call again' }).click();
  await expect(page.getByRole('button', { name: 'Call again' })).toBeEnabled();
  expect(demoTabs(browser), 'the tab is used again').toBe(1);
  const log = JSON.parse(await relay.tabrelay('audit', '--json'));
  expect(JSON.stringify(log)).toContain('demo__hello');
  expect(errors).toEqual([]);
});

test('without tabrelay: its one line, and the page goes on by itself', async ({ closing }) => {
  const relay = await openRelay(closing);
  const extension = await unpairedEdition(relay, closing);
  const profile = await temporaryFolder('profile', closing);
  const browser = await openBrowser({ extension }, closing, profile);
  const person = new Person();
  const { page, errors } = await firstPage(browser);
  await expect(page.getByText('was not found on this computer')).toBeVisible();
  await expect(page.getByText('npx tabrelay up').first()).toBeVisible();
  await browser.grantPermissions(['clipboard-read']);
  await person.press(page.getByRole('button', { name: 'Copy: The line for Linux' }));
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('npx tabrelay up');
  await page.getByText('Another system').click();
  await expect(page.getByText('winget install')).toBeVisible();
  const { violations } = await new AxeBuilder({ page }).analyze();
  expect(violations).toEqual([]);

  await relay.person('native-host', 'add', '--user-data-dir', profile); // what the line comes to
  await expect(heading(page, 'Connect this browser (done)')).toBeVisible();
  await person.press(firstCall(page));
  await expect(page.getByText(greeting)).toBeVisible();
  expect(person.clicks).toBeLessThanOrEqual(4);
  console.log(`onboarding without tabrelay: ${person.account}`);
  expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  expect(errors).toEqual([]);

  await browser.close();
  const again = await openBrowser({ extension }, closing, profile);
  await expect.poll(() => relay.browsers()).toBe(1);
  expect(
    again.pages().filter((one) => one.url().includes('#setup')),
    'it opens once',
  ).toEqual([]);
});

test('the extension from the relay’s folder opens no page, and has it in its settings', async ({
  closing,
}) => {
  const relay = await openRelay(closing);
  const browser = await openBrowser(relay, closing);
  await expect.poll(() => relay.browsers()).toBe(1);
  const panel = await openPanel(browser, 'settings');
  expect(browser.pages().filter((page) => page.url().includes('#setup'))).toEqual([]);
  await panel.getByRole('button', { name: 'Set up' }).click();
  const { page } = await firstPage(browser);
  await expect(firstCall(page)).toBeVisible();
});

test('a first call that fails says why and what to do, and can be made again', async ({ closing }) => {
  const relay = await openRelay(closing);
  const browser = await openBrowser(relay, closing);
  await expect.poll(() => relay.browsers()).toBe(1);
  await relay.tabrelay('pause');
  const page = await openPanel(browser, 'setup');
  await firstCall(page).click();
  await expect(page.getByRole('alert')).toContainText('The person has stopped all agents');
  await expect(page.getByRole('alert')).toContainText('tabrelay resume');
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('button', { name: 'Call again' }).click();
  await expect(page.getByText(greeting)).toBeVisible();
});
