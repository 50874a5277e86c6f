// A real Chromium with the extension from the relay's home folder, in a profile of its own.

import { existsSync } from 'node:fs';
import path from 'node:path';
import { type BrowserContext, chromium } from '@playwright/test';
import type { Closing } from './closing.ts';
import { allowUserScripts, storeEdition, storeFolder } from './edition.ts';
import { browserFlags } from './flags.ts';
import { browser, temporaryFolder } from './paths.ts';
import type { Relay } from './relay.ts';

/** Opens a browser; folder is that of a profile there is already, extra are further flags of Chromium. */
export async function openBrowser(
  relay: Pick<Relay, 'extension'>,
  closing: Closing,
  folder?: string,
  extra: readonly string[] = [],
): Promise<BrowserContext> {
  const profile = folder ?? (await temporaryFolder('profile', closing));
  const paired = existsSync(path.join(relay.extension, 'pairing.json'));
  const extension = storeFolder && paired ? await storeEdition(relay, closing) : relay.extension;
  const context = await chromium.launchPersistentContext(profile, {
    executablePath: browser,
    ignoreDefaultArgs: true,
    args: browserFlags(profile, extension, extra),
  });
  closing.defer(() => context.close());
  if (storeFolder !== undefined) await allowUserScripts(context);
  return context;
}

/** The id of the extension, from its service worker. */
export async function extensionId(context: BrowserContext): Promise<string> {
  const worker = context.serviceWorkers()[0] ?? (await context.waitForEvent('serviceworker'));
  return new URL(worker.url()).host;
}

/** Stops the extension's service worker as Chrome does when it is idle too long. No site of ours has one. */
export async function stopWorker(context: BrowserContext): Promise<void> {
  const session = await context.newCDPSession(context.pages()[0] ?? (await context.newPage()));
  await session.send('ServiceWorker.enable');
  await session.send('ServiceWorker.stopAllWorkers');
  await session.detach();
}
