import { bundleHash } from './bundle.ts';

/**
 * Starts the extension anew when the relay has newer files than the ones that run here: once for each bundle, as a
 * folder that the relay cannot write must not make us reload for ever, and not while there are calls.
 */
export async function updateTo(bundle: string, busy: () => boolean): Promise<void> {
  if (bundle === bundleHash) return;
  if (busy()) {
    setTimeout(() => updateTo(bundle, busy), 1000);
    return;
  }
  const { renewedFor } = await chrome.storage.local.get('renewedFor');
  if (renewedFor === bundle) return;
  await chrome.storage.local.set({ renewedFor: bundle });
  chrome.runtime.reload();
}
