// Chrome's optional permissions: a person can grant them later, and revoke them.
import { useEffect, useState } from 'preact/hooks';
import { isText, listOf } from '../shared/guards.ts';
import { blockedKey, neededKey } from '../shared/needed.ts';

/** Permissions that are offered only after a call failed for want of them. */
const asNeeded = ['cookies', 'downloads'] as const;
type Needed = (typeof asNeeded)[number];
export type Permission = 'notifications' | 'tabGroups' | 'offscreen' | Needed;

const declinedKey = 'permissionsDeclined';

async function kept(key: string): Promise<string[]> {
  const { [key]: stored } = await chrome.storage.local.get(key);
  return listOf(isText)(stored) ? stored : [];
}

const declined = () => kept(declinedKey);

async function keep(key: string, permission: Permission, on: boolean): Promise<void> {
  const others = (await kept(key)).filter((one) => one !== permission);
  await chrome.storage.local.set({ [key]: on ? [...others, permission] : others });
}

/** What the panel says of a permission that a policy of the browser blocks. */
export const blockedWords = 'Your organization’s policy for this browser does not allow it.';

/** Grants or revokes a permission; granting needs the person's click. Resolves to whether it is granted now. */
async function turn(permission: Permission, on: boolean): Promise<boolean> {
  const wanted = { permissions: [permission] };
  let changed = false;
  let blocked = false;
  try {
    changed = await (on ? chrome.permissions.request(wanted) : chrome.permissions.remove(wanted));
  } catch (why) {
    blocked = /policy/i.test(String(why)); // "Permissions are blocked by enterprise policy."
    if (!blocked) throw why;
  }
  await keep(blockedKey, permission, blocked);
  await keep(declinedKey, permission, !on);
  return on && changed;
}

/** Requests a permission that Chrome grants without asking, during a click (see permissions.md); not one turned off. */
export async function askSilently(permission: Permission): Promise<void> {
  if (!(await declined()).includes(permission))
    await chrome.permissions.request({ permissions: [permission] });
}

interface Missing {
  permission: Needed;
  blocked: boolean;
}

async function missing(): Promise<Missing[]> {
  const [needed, no, blocked] = await Promise.all([kept(neededKey), declined(), kept(blockedKey)]);
  const list: Missing[] = [];
  for (const permission of asNeeded) {
    if (!needed.includes(permission) || no.includes(permission)) continue;
    if (!(await chrome.permissions.contains({ permissions: [permission] })))
      list.push({ permission, blocked: blocked.includes(permission) });
  }
  return list;
}

/** The permissions that calls have needed and the person has neither granted nor declined. */
export function useMissing(): [readonly Missing[], (permission: Needed, on: boolean) => void] {
  const [list, setList] = useState<readonly Missing[]>([]);
  const refresh = () => void missing().then(setList);
  useEffect(() => {
    refresh();
    const changed = (changes: object) => {
      if (neededKey in changes) refresh();
    };
    chrome.storage.local.onChanged.addListener(changed);
    return () => chrome.storage.local.onChanged.removeListener(changed);
  }, []);
  return [list, (permission, on) => void turn(permission, on).then(refresh)];
}

/** Whether to offer notifications: from the first question on, until they are granted or declined. */
export function useOffer(asked: boolean): [boolean, (on: boolean) => void] {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    if (!asked) return;
    const there = chrome.permissions.contains({ permissions: ['notifications'] });
    void Promise.all([there, declined()]).then(([on, no]) => setOpen(!on && !no.includes('notifications')));
  }, [asked]);
  return [open, (on) => void turn('notifications', on).then(() => setOpen(false))];
}

/** Whether a permission is granted, undefined until Chrome has said; a function to change it; whether it is blocked. */
export function usePermission(
  permission: Permission,
): [boolean | undefined, (on: boolean) => void, blocked: boolean] {
  const [there, setThere] = useState<boolean | undefined>();
  const [blocked, setBlocked] = useState(false);
  const look = async () => {
    setBlocked((await kept(blockedKey)).includes(permission));
    setThere(await chrome.permissions.contains({ permissions: [permission] }));
  };
  useEffect(() => void look(), [permission]);
  return [there, (on) => void turn(permission, on).then(look), blocked];
}
