// A new person: the extension is just installed, and its first page leads to the result of the first call. What a
// person does is counted; what they would type into a terminal is run by the test.

import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import type { BrowserContext, Locator, Page } from '@playwright/test';
import { z } from 'zod';
import { stdioAgent } from '../stage/agent.ts';
import { openBrowser } from '../stage/browser.ts';
import type { Closing } from '../stage/closing.ts';
import { allowUserScripts, storeFolder, unpairedEdition } from '../stage/edition.ts';
import { temporaryFolder } from '../stage/paths.ts';
import { openRelay, type Relay } from '../stage/relay.ts';
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

/** The folder of a person who has Cursor: what is started from here on keeps to it. Returns the file of Cursor. */
async function ownFolder(closing: Closing): Promise<string> {
  const { HOME } = process.env;
  const home = await temporaryFolder('person', closing);
  closing.defer(async () => {
    process.env.HOME = HOME;
  });
  process.env.HOME = home;
  const file = path.join(home, '.cursor', 'mcp.json');
  await mkdir(path.dirname(file));
  await writeFile(file, cursorBefore);
  return file;
}

const cursorBefore = '{\n  // mine\n  "mcpServers": {}\n}\n';

/** A relay that is installed and stopped, and a browser to which a store gave the extension. */
async function openNewcomer(
  closing: Closing,
): Promise<{ relay: Relay; open: () => Promise<BrowserContext> }> {
  const relay = await openRelay(closing);
  const extension = await unpairedEdition(relay, closing);
  const profile = await temporaryFolder('profile', closing);
  await relay.person('native-host', 'add', '--user-data-dir', profile);
  // The extension of a store has the demo's script for the usual address; here that stays as the copy has it.
  const { demo } = JSON.parse(await relay.tabrelay('status', '--json'));
  await relay.configure({ listen: '127.0.0.1:0', demo: { listen: new URL(demo).host } });
  await relay.down();
  return { relay, open: () => openBrowser({ extension }, closing, profile) };
}

const Entry = z.object({
  mcpServers: z.object({
    tabrelay: z.object({ args: z.array(z.string()), env: z.record(z.string(), z.string()) }),
  }),
});

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

test('with tabrelay installed and stopped: two clicks to the first result, one more to a client', async ({
  closing,
}) => {
  const file = await ownFolder(closing);
  const { relay, open } = await openNewcomer(closing);
  const person = new Person();
  const browser = await open();
  const { page, errors } = await firstPage(browser);
  // Who has just installed it has allowed no user scripts: the demo's script is one of the package.
  if (storeFolder !== undefined) await allowUserScripts(browser, false);
  await person.press(page.getByRole('button', { name: 'Start tabrelay' }));
  await person.press(firstCall(page));
  await expect(page.getByText(greeting)).toBeVisible();
  console.log(`onboarding, first call: ${person.account}`);
  const clients = page.getByRole('list', { name: 'Clients on this computer' });
  await expect(clients.getByRole('listitem')).toHaveCount(1);
  await expect(clients).toContainText(`Writes tabrelay into ${file}. Everything else in it stays`);
  await expect(clients).toContainText(`kept as ${file}.before-tabrelay`);
  expect(await readFile(file, 'utf8')).toBe(cursorBefore);
  await person.press(page.getByRole('button', { name: 'Connect Cursor' }));
  await expect(page.getByText('So that Cursor knows of it: Restart Cursor')).toBeVisible();
  expect(person.clicks).toBeLessThanOrEqual(4);
  console.log(`onboarding, first client: ${person.account}`);

  await expect(heading(page, 'Make a first call (done)')).toBeVisible();
  await expect(heading(page, 'Connect your agent (done)')).toBeVisible();
  expect(await readFile(`${file}.before-tabrelay`, 'utf8')).toBe(cursorBefore);
  const written = await readFile(file, 'utf8');
  expect(written).toContain('// mine');
  const { args, env } = Entry.parse(JSON.parse(written.replace('// mine', ''))).mcpServers.tabrelay;
  const agent = await stdioAgent(relay, closing, args.slice(1), env);
  expect((await agent.call('demo__hello')).text).toMatch(greeting);
  expect(await relay.tabrelay('audit', '--client', 'cursor', '--json')).toContain('demo__hello');
  await expect(page.getByText('Say hello on the tabrelay demo site')).toBeVisible();
  expect(await page.evaluate(() => document.visibilityState)).toBe('visible');
  expect(demoTabs(browser)).toBe(1);
  await page.getByRole('button', { name: 'Call again' }).click();
  await expect(page.getByRole('button', { name: 'Call again' })).toBeEnabled();
  expect(demoTabs(browser), 'the tab is used again').toBe(1);
  await page.getByRole('button', { name: 'Disconnect Cursor' }).click();
  await page.getByRole('button', { name: 'Disconnect', exact: true }).click();
  await expect(page.getByRole('button', { name: 'Connect Cursor' })).toBeVisible();
  expect(await readFile(file, 'utf8')).toBe(cursorBefore);
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

/** Whether the person at the keyboard sees where they are: what has focus, with its outline, name and role. */
const focused = (page: Page) =>
  page.evaluate(() => {
    const one = document.activeElement;
    if (one === null || one === document.body) return { seen: false, text: 'nothing' };
    const { outlineStyle, outlineWidth } = getComputedStyle(one);
    const box = one.getBoundingClientRect();
    const inView = box.width > 0 && box.top >= 0 && box.bottom <= innerHeight;
    return { seen: inView && outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2, text: one.outerHTML };
  });

/** Goes on with Tab until a control has focus. Each on the way is to be seen. */
async function tabTo(page: Page, control: Locator): Promise<void> {
  for (let presses = 0; presses < 40; presses++) {
    if (await control.evaluate((one) => one === document.activeElement)) return;
    await page.keyboard.press('Tab');
    const { seen, text } = await focused(page);
    if (text !== 'nothing') expect(seen, `focus is not to be seen on ${text}`).toBe(true);
  }
  throw new Error(`the keyboard does not lead to ${control}`);
}

test('the whole page goes by keyboard alone, and focus is never lost', async ({ closing }) => {
  const file = await ownFolder(closing);
  const { open } = await openNewcomer(closing);
  const { page, errors } = await firstPage(await open());
  await page.bringToFront();
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  await tabTo(page, button('Start tabrelay'));
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Make a first call')).toBeFocused();
  await tabTo(page, button('Make the first call'));
  await page.keyboard.press('Enter');
  await expect(button('Call again')).toBeFocused();
  await expect(page.getByText(greeting)).toBeVisible();
  await tabTo(page, button('Connect Cursor'));
  await page.keyboard.press('Enter');
  await expect(heading(page, 'Try it')).toBeFocused();
  expect(await focused(page)).toMatchObject({ seen: true });
  expect(await readFile(file, 'utf8')).toContain('"tabrelay"');
  await tabTo(page, button('Copy: The sentence'));
  await page.keyboard.press('Enter');
  await expect(page.getByText('The sentence is copied.')).toBeAttached();
  await heading(page, 'Connect your agent (done)').focus();
  await tabTo(page, page.getByText('Another client'));
  await page.keyboard.press('Enter');
  await expect(page.getByText('tabrelay connect zed')).toBeVisible();
  await heading(page, 'Connect your agent (done)').focus();
  await tabTo(page, button('Disconnect Cursor'));
  await page.keyboard.press('Enter');
  await expect(button('Cancel')).toBeFocused();
  await page.keyboard.press('Tab');
  await expect(button('Disconnect')).toBeFocused();
  await page.keyboard.press('Enter');
  await expect(button('Connect Cursor')).toBeFocused();
  expect(await readFile(file, 'utf8')).toBe(cursorBefore);
  expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  expect(errors).toEqual([]);
});

test('a file that cannot be read is told and stays, and without any client there is a line for each', async ({
  closing,
}) => {
  const file = await ownFolder(closing);
  await writeFile(file, '{"mcpServers": ');
  const relay = await openRelay(closing);
  const browser = await openBrowser(relay, closing);
  await expect.poll(() => relay.browsers()).toBe(1);
  const page = await openPanel(browser, 'setup');
  await firstCall(page).click();
  const cursor = page.getByRole('listitem', { name: 'Cursor' });
  await expect(cursor).toContainText(`${file} is not changed: it is not JSON`);
  await expect(cursor).toContainText('Repair the file');
  await expect(page.getByRole('button', { name: 'Connect Cursor' })).toHaveCount(0);
  expect(await readFile(file, 'utf8')).toBe('{"mcpServers": ');
  await rm(path.dirname(file), { recursive: true });
  await page.getByRole('button', { name: 'Look again' }).click();
  await expect(page.getByText('No client was found on this computer.')).toBeVisible();
  await expect(page.getByText('tabrelay connect cursor')).toBeVisible();
});
