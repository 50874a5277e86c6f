// Chrome's notifications, which the person allows in a window of Chrome's own.

import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { BrowserContext, Worker } from '@playwright/test';
import type { Relay } from './relay.ts';

/** As if the person had allowed notifications, which Chrome asks for in a window of its own. */
export async function allowNotifications(relay: Relay): Promise<void> {
  const file = path.join(relay.extension, 'manifest.json');
  const manifest = JSON.parse(await readFile(file, 'utf8'));
  manifest.permissions.push('notifications');
  manifest.optional_permissions = manifest.optional_permissions.filter(
    (one: string) => one !== 'notifications',
  );
  await writeFile(file, JSON.stringify(manifest));
}

export async function workerOf(browser: BrowserContext): Promise<Worker> {
  return browser.serviceWorkers()[0] ?? (await browser.waitForEvent('serviceworker'));
}
