// Chrome's optional permissions: a person can grant them later, and revoke them.
import { useEffect, useState } from 'preact/hooks';
import { isText, listOf } from '../shared/guards.ts';
import { neededKey } from '../shared/needed.ts';

/** Permissions that are offered only after a call failed for want of them. */
const asNeeded = ['cookies', 'downloads'] as const;
type Needed = (typeof asNeeded)[number];
export type Permission = 'notifications' | 'tabGroups' | 'offscreen' | Needed;

const declinedKey = 'permissionsDeclined';

async function declined(): Promise<string[]> {
  const { [declinedKey]: stored } = await chrome.storage.local.get(declinedKey);
  return listOf(isText)(stored) ? stored : [];
}

/** Grants or revokes a permission; granting needs the person's click. Resolves to whether it is granted now. */
async function turn(permission: Permission, on: boolean): Promise<boolean> {
  const wanted = { permissions: [permission] };
  const changed = await (on ? chrome.permissions.request(wanted) : chrome.permissions.remove(wanted));
  const others = (await declined()).filter((one) => one !== permission);
  await chrome.storage.local.set({ [declinedKey]: on ? others : [...others, permission] });
  return on && changed;
}

/** Requests a permission that Chrome grants without asking, during a click (see permissions.md); not one turned off. */
export async function askSilently(permission: Permission): Promise<void> {
  if (!(await declined()).includes(permission))
    await chrome.permissions.request({ permissions: [permission] });
}

async function missing(): Promise<Needed[]> {
  const { [neededKey]: needed } = await chrome.storage.local.get(neededKey);
  const no = await declined();
  const list: Needed[] = [];
  for (const permission of asNeeded) {
    if (!listOf(isText)(needed) || !needed.includes(permission) || no.includes(permission)) continue;
    if (!(await chrome.permissions.contains({ permissions: [permission] }))) list.push(permission);
  }
  return list;
}

/** The permissions that calls have needed and the person has neither granted nor declined. */
export function useMissing(): [readonly Needed[], (permission: Needed, on: boolean) => void] {
  const [list, setList] = useState<readonly Needed[]>([]);
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

/** Whether a permission is granted, undefined until Chrome has said; and a function to change it. */
export function usePermission(permission: Permission): [boolean | undefined, (on: boolean) => void] {
  const [there, setThere] = useState<boolean | undefined>();
  useEffect(() => {
    chrome.permissions.contains({ permissions: [permission] }).then(setThere);
  }, [permission]);
  return [there, (on) => void turn(permission, on).then(setThere)];
}
