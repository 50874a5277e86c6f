// Permissions that Chrome gives only when the person clicks in the panel: asked for there once a call needed them.
import { isText, listOf } from '../../shared/guards.ts';
import { blockedKey, neededKey } from '../../shared/needed.ts';
import { Ended } from '../../worker/calls/tool-runner.ts';

/** What the tools for developers can need. */
export type Needed = 'cookies' | 'downloads';

/** Fails while the person has not given the permission, and has the panel ask for it. */
export async function permitted(permission: Needed, what: string): Promise<void> {
  if (await chrome.permissions.contains({ permissions: [permission] })) return;
  const { [neededKey]: stored, [blockedKey]: blocked } = await chrome.storage.local.get([
    neededKey,
    blockedKey,
  ]);
  if (listOf(isText)(blocked) && blocked.includes(permission)) {
    const message = `The policy of the organization that manages this browser does not let the extension see ${what}`;
    const hint = 'Only an administrator can change that; then the person allows it in the panel’s settings.';
    throw Ended.as('BROWSER_POLICY', message, { category: 'auth', hint });
  }
  const needed = listOf(isText)(stored) ? stored : [];
  if (!needed.includes(permission)) await chrome.storage.local.set({ [neededKey]: [...needed, permission] });
  throw Ended.as(
    'BROWSER_PERMISSION_MISSING',
    `Chrome lets the extension see ${what} only after the person has allowed it`,
    {
      category: 'auth',
      hint: `Ask the person to open tabrelay's side panel and allow it there, and repeat the call then.`,
    },
  );
}
