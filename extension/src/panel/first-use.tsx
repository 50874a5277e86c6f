// What Chrome lets an extension ask for only when a person clicks: shown where it helps, and only until it is given.
import { useEffect, useState } from 'preact/hooks';
import { isText, listOf } from '../page/guards.ts';
import { neededKey } from '../worker/needed.ts';

const optional = {
  notifications: {
    why: 'When an agent asks for your permission while this panel is closed, tabrelay can show a notification.',
    label: 'Turn notifications on',
  },
  tabGroups: {
    why: 'The tabs an agent works in can be put into a group with its name.',
    label: 'Group agent tabs',
  },
  cookies: {
    why: 'An agent wants to use browser__cookies: to see, set and remove cookies of the sites you let it.',
    label: 'Allow cookies',
  },
  downloads: {
    why: 'An agent wants to use browser__downloads: to see what was downloaded from the sites you let it.',
    label: 'Allow downloads',
  },
} as const;
type Permission = keyof typeof optional;

const declinedKey = 'permissionsDeclined';

// These are not asked for before a call has needed them.
const onlyNeeded: readonly Permission[] = ['cookies', 'downloads'];

/** The permissions the manifest allows us to ask for that we do not have and the person did not turn down. */
async function open(): Promise<Permission[]> {
  const asked = chrome.runtime.getManifest().optional_permissions ?? [];
  const { [declinedKey]: stored, [neededKey]: needed } = await chrome.storage.local.get([
    declinedKey,
    neededKey,
  ]);
  const declined = listOf(isText)(stored) ? stored : [];
  const list: Permission[] = [];
  for (const permission of ['notifications', 'tabGroups', ...onlyNeeded] as const) {
    const has = (kept: unknown) => listOf(isText)(kept) && kept.includes(permission);
    const wanted =
      asked.some((one) => one === permission) &&
      !declined.includes(permission) &&
      (!onlyNeeded.includes(permission) || has(needed));
    if (wanted && !(await chrome.permissions.contains({ permissions: [permission] }))) list.push(permission);
  }
  return list;
}

async function decline(permission: Permission): Promise<void> {
  const { [declinedKey]: stored } = await chrome.storage.local.get(declinedKey);
  await chrome.storage.local.set({ [declinedKey]: [...(listOf(isText)(stored) ? stored : []), permission] });
}

export function FirstUse() {
  const [list, setList] = useState<readonly Permission[]>([]);
  const refresh = () => open().then(setList);
  useEffect(() => {
    refresh();
    const changed = (changes: object) => {
      if (neededKey in changes) refresh();
    };
    chrome.storage.local.onChanged.addListener(changed);
    return () => chrome.storage.local.onChanged.removeListener(changed);
  }, []);
  return (
    <>
      {list.map((permission) => (
        <section key={permission} class="permission" aria-label={optional[permission].label}>
          <p>{optional[permission].why}</p>
          <div class="buttons">
            <button type="button" class="small" onClick={() => decline(permission).then(refresh)}>
              No, thanks
            </button>
            <button
              type="button"
              class="small primary"
              onClick={() => chrome.permissions.request({ permissions: [permission] }).then(refresh)}
            >
              {optional[permission].label}
            </button>
          </div>
        </section>
      ))}
    </>
  );
}
