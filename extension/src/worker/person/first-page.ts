// The page that a new installation begins with.
import { setupPage } from '../../shared/setup-page.ts';
import { readPairingFile } from '../link/pairing.ts';

/**
 * Opens it after an installation from a store. Whoever loads the extension from the relay's folder follows what
 * `tabrelay up` says in a terminal, which makes the first call itself.
 */
export async function openFirstPage({ reason }: chrome.runtime.InstalledDetails): Promise<void> {
  if (reason !== 'install' || (await readPairingFile()) !== undefined) return;
  await chrome.tabs.create({ url: setupPage });
}
