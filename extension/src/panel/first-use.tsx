// What Chrome lets an extension ask for only when a person clicks: shown where it helps, and only until it is given.
import { useEffect, useState } from 'preact/hooks';
import { isText, listOf } from '../page/guards.ts';

const optional = {
  notifications: {
    why: 'When an agent asks for your permission while this panel is closed, tabrelay can show a notification.',
    label: 'Turn notifications on',
  },
  tabGroups: {
    why: 'The tabs an agent works in can be put into a group with its name.',
    label: 'Group agent tabs',
  },
} as const;
type Permission = keyof typeof optional;

const declinedKey = 'permissionsDeclined';

/** The permissions the manifest allows us to ask for that we do not have and the person did not turn down. */
async function open(): Promise<Permission[]> {
  const asked = chrome.runtime.getManifest().optional_permissions ?? [];
  const { [declinedKey]: stored } = await chrome.storage.local.get(declinedKey);
  const declined = listOf(isText)(stored) ? stored : [];
  const list: Permission[] = [];
  for (const permission of ['notifications', 'tabGroups'] as const) {
    const wanted = asked.some((one) => one === permission) && !declined.includes(permission);
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
