// The page that a new installation begins with.
import { setupPage } from '../../shared/setup-page.ts';
import { readPairingFile } from '../link/pairing.ts';

const shownKey = 'firstPageShown';

/**
 * Opens it after an installation from a store, once: to Chrome, an extension that its command line names is installed
 * at every start. Whoever loads the extension from the relay's folder follows what `tabrelay up` says in a terminal,
 * which makes the first call itself.
 */
export async function openFirstPage({ reason }: chrome.runtime.InstalledDetails): Promise<void> {
  if (reason !== 'install' || (await readPairingFile()) !== undefined) return;
  const { [shownKey]: shown } = await chrome.storage.local.get(shownKey);
  if (shown === true) return;
  await chrome.storage.local.set({ [shownKey]: true });
  await chrome.tabs.create({ url: setupPage });
}
