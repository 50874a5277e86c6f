// An extension that was not loaded from the relay's folder, as one from a store: `tabrelay pair` and its panel.

import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { openBrowser } from '../stage/browser.ts';
import { unpairedEdition } from '../stage/edition.ts';
import { temporaryFolder } from '../stage/paths.ts';
import { openRelay } from '../stage/relay.ts';
import { openPanel } from '../stage/side-panel.ts';
import { expect, test } from '../stage/test.ts';

test('a string that tabrelay pair prints pairs it, once, and what it keeps outlives the browser', async ({
  closing,
}) => {
  const relay = await openRelay(closing);
  const extension = await temporaryFolder('packed', closing);
  await cp(relay.extension, extension, { recursive: true });
  await rm(path.join(extension, 'pairing.json'));
  const profile = await temporaryFolder('profile', closing);
  const browser = await openBrowser({ extension }, closing, profile);
  const panel = await openPanel(browser);
  await expect(panel.getByRole('status').first()).toContainText('Not paired');

  const first = (await relay.person('pair')).trim();
  const { host } = new URL(await relay.url('/'));
  expect(first).toMatch(/^[0-9.:]+\/[0-9a-f]{32}$/);
  expect(first.startsWith(`${host}/`)).toBe(true);
  const paste = async (text: string) => {
    const field = panel.getByRole('textbox', { name: /pairing string/i });
    await field.fill(text);
    await field.press('Enter');
  };
  const second = (await relay.person('pair')).trim();
  await paste(first);
  await expect(panel.getByRole('alert')).toContainText('could not prove'); // a new string replaces the one before
  expect(await relay.browsers()).toBe(0);
  await paste(second);
  await expect(panel.getByRole('status').first()).toContainText('Connected');
  await expect.poll(() => relay.browsers()).toBe(1);
  await browser.close();
  await expect.poll(() => relay.browsers()).toBe(0);
  await openBrowser({ extension }, closing, profile);
  await expect.poll(() => relay.browsers()).toBe(1);
  const said = await relay.tabrelay('events', '--json');
  for (const secret of [first, second]) expect(said + relay.log()).not.toContain(secret.split('/')[1]);
});

test('an extension of another relay is told by its folder, and not as one that is missing', async ({
  closing,
}) => {
  const relay = await openRelay(closing);
  const extension = await temporaryFolder('other', closing);
  await cp(relay.extension, extension, { recursive: true });
  const file = path.join(extension, 'pairing.json');
  const paired = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...paired, secret: '0'.repeat(64) }));
  const browser = await openBrowser({ extension }, closing, await temporaryFolder('profile', closing));
  const panel = await openPanel(browser);
  await expect(panel.getByText(/could not prove/)).toBeVisible();
  const said = String(await relay.tabrelay('doctor').catch((failed) => failed));
  expect(said).toMatch(/FAIL {2}pairing-refused +An extension does not accept this relay/);
  expect(said).not.toContain('extension-absent');
  const answer = String(await relay.tabrelay('call', 'demo__hello').catch((failed) => failed));
  expect(answer).toContain('[ERROR code=PAIRING_FAILED');
  expect(answer).toMatch(/Ask the person to run `\S*tabrelay doctor`/);
});

test('an extension from a store finds the relay by this machine\u2019s program, and has it started', async ({
  closing,
}) => {
  const relay = await openRelay(closing);
  const extension = await unpairedEdition(relay, closing);
  const profile = await temporaryFolder('profile', closing);
  await relay.person('native-host', 'add', '--user-data-dir', profile);
  expect(await relay.tabrelay('native-host', 'list', '--user-data-dir', profile)).toContain(profile);
  const browser = await openBrowser({ extension }, closing, profile);
  await expect.poll(() => relay.browsers()).toBe(1);

  await relay.down();
  const panel = await openPanel(browser);
  const start = panel.getByRole('button', { name: 'Start tabrelay' });
  await expect(start).toBeVisible();
  await start.click();
  await expect(panel.getByRole('status').first()).toContainText('Connected');
  await expect.poll(() => relay.browsers()).toBe(1);

  await relay.tabrelay('native-host', 'remove', '--user-data-dir', profile);
  await browser.close();
  const again = await openPanel(await openBrowser({ extension }, closing, profile));
  await expect(again.getByText('npx tabrelay up')).toBeVisible();
  await expect(again.getByText(/was not found on this computer/)).toBeVisible();
});

test('a program that is gone is told as such, and one that came back is found again', async ({ closing }) => {
  const relay = await openRelay(closing);
  const extension = await unpairedEdition(relay, closing);
  const profile = await temporaryFolder('profile', closing);
  await relay.person('native-host', 'add', '--user-data-dir', profile);
  const registered = path.join(profile, 'NativeMessagingHosts', 'io.github.tabrelay.json');
  const program: string = JSON.parse(await readFile(registered, 'utf8')).path;
  const working = await readFile(program, 'utf8');
  await writeFile(program, '#!/bin/sh\nexec /nonexistent/tabrelay "$@"\n'); // as after a package cache was cleaned
  const panel = await openPanel(await openBrowser({ extension }, closing, profile));
  await expect(panel.getByText(/gave no answer; it may have been moved, deleted/)).toBeVisible();
  await expect(panel.getByText('npx tabrelay up')).toBeVisible();
  await writeFile(program, working);
  await expect.poll(() => relay.browsers()).toBe(1);

  await panel.getByRole('button', { name: 'Settings' }).click();
  await panel.getByRole('button', { name: 'Unpair this browser' }).click();
  await panel.getByRole('button', { name: 'Unpair', exact: true }).click();
  await expect.poll(() => relay.browsers()).toBe(0);
  await panel.getByRole('button', { name: 'Pair again' }).click();
  await expect.poll(() => relay.browsers()).toBe(1);
});

test('another extension is not told where the relay is', async ({ closing }) => {
  const relay = await openRelay(closing);
  const profile = await temporaryFolder('profile', closing);
  await relay.person('native-host', 'add', '--user-data-dir', profile);
  const extension = await temporaryFolder('foreign', closing);
  const manifest = {
    manifest_version: 3,
    name: 'foreign',
    version: '1',
    permissions: ['nativeMessaging'],
    background: { service_worker: 'worker.js' },
  };
  await writeFile(path.join(extension, 'manifest.json'), JSON.stringify(manifest));
  await writeFile(path.join(extension, 'worker.js'), '');
  const browser = await openBrowser({ extension }, closing, profile);
  const worker = browser.serviceWorkers()[0] ?? (await browser.waitForEvent('serviceworker'));
  const told = await worker.evaluate(() =>
    chrome.runtime.sendNativeMessage('io.github.tabrelay', { type: 'find' }).catch(String),
  );
  expect(told).toMatch(/forbidden/);
});
