// The store edition of the extension in the place of the relay's, for a whole run of the tests: make extension-store,
// and STORE_EDITION=packaging/dist/store/unpacked.

import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { BrowserContext } from '@playwright/test';
import { z } from 'zod';
import type { Closing } from './closing.ts';
import { repository, temporaryFolder } from './paths.ts';
import type { Relay } from './relay.ts';

const { STORE_EDITION } = process.env;

/** The unpacked store edition that the tests are to run with. */
export const storeFolder = STORE_EDITION && path.resolve(repository, STORE_EDITION);

const Manifest = z.looseObject({
  permissions: z.array(z.string()),
  optional_permissions: z.array(z.string()),
});

/**
 * A copy that belongs to a relay, as if a person had paired it: with the id that the relay expects, the pairing, and the
 * optional permission for which Chrome would want a click.
 */
export async function storeEdition(relay: Pick<Relay, 'extension'>, closing: Closing): Promise<string> {
  const folder = path.join(await temporaryFolder('store', closing), 'extension');
  await cp(storeFolder ?? '', folder, { recursive: true });
  await cp(path.join(relay.extension, 'pairing.json'), path.join(folder, 'pairing.json'));
  const own = await readFile(path.join(relay.extension, 'manifest.json'), 'utf8');
  const { key, permissions } = Manifest.extend({ key: z.string() }).parse(JSON.parse(own));
  const file = path.join(folder, 'manifest.json');
  const manifest = Manifest.parse(JSON.parse(await readFile(file, 'utf8')));
  const all = new Set([...manifest.permissions, ...permissions, 'userScripts']); // also what a test has given
  const given = { ...manifest, key, permissions: [...all] };
  await writeFile(file, JSON.stringify(given));
  return folder;
}

/**
 * The extension of a relay as a store would give it: it knows no relay, and may ask this machine's program. With
 * STORE_EDITION it is that edition, with the id that the relay expects.
 */
export async function unpairedEdition(relay: Pick<Relay, 'extension'>, closing: Closing): Promise<string> {
  const extension =
    storeFolder === undefined ? await temporaryFolder('store', closing) : await storeEdition(relay, closing);
  if (storeFolder === undefined) await cp(relay.extension, extension, { recursive: true });
  await rm(path.join(extension, 'pairing.json'));
  const file = path.join(extension, 'manifest.json');
  const manifest = Manifest.parse(JSON.parse(await readFile(file, 'utf8')));
  manifest.permissions = Array.from(new Set([...manifest.permissions, 'nativeMessaging']));
  await writeFile(file, JSON.stringify(manifest));
  return extension;
}

/** Switches "Allow User Scripts" on, on the page where a person does it. */
export async function allowUserScripts(browser: BrowserContext, on = true): Promise<void> {
  const worker = browser.serviceWorkers()[0] ?? (await browser.waitForEvent('serviceworker'));
  const page = await browser.newPage();
  await page.goto(`chrome://extensions/?id=${new URL(worker.url()).host}`);
  const toggle = page.locator('#allow-user-scripts #crToggle');
  if ((await toggle.getAttribute('aria-checked')) !== String(on)) await toggle.click();
  await page.locator(`#allow-user-scripts #crToggle[aria-checked=${on}]`).waitFor();
  await page.close();
}
