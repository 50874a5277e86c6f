// What Chrome lets an extension ask for only when a person clicks: offered where it helps, and only until it is given.
import { useEffect, useState } from 'preact/hooks';
import { isText, listOf } from '../page/guards.ts';

const offers = {
  notifications: {
    why: 'When an agent asks for your permission while this panel is closed, tabrelay can show a notification.',
    label: 'Turn notifications on',
  },
  tabGroups: {
    why: 'The tabs an agent works in can be put into a group with its name.',
    label: 'Name tab groups',
  },
} as const;
type Offer = keyof typeof offers;

const hiddenKey = 'offersHidden';

/** The permissions the manifest allows us to ask for that we do not have and the person did not turn down. */
async function open(): Promise<Offer[]> {
  const asked = chrome.runtime.getManifest().optional_permissions ?? [];
  const { [hiddenKey]: stored } = await chrome.storage.local.get(hiddenKey);
  const hidden = listOf(isText)(stored) ? stored : [];
  const list: Offer[] = [];
  for (const offer of ['notifications', 'tabGroups'] as const) {
    const wanted = asked.some((one) => one === offer) && !hidden.includes(offer);
    if (wanted && !(await chrome.permissions.contains({ permissions: [offer] }))) list.push(offer);
  }
  return list;
}

async function hide(offer: Offer): Promise<void> {
  const { [hiddenKey]: stored } = await chrome.storage.local.get(hiddenKey);
  await chrome.storage.local.set({ [hiddenKey]: [...(listOf(isText)(stored) ? stored : []), offer] });
}

export function FirstUse() {
  const [list, setList] = useState<readonly Offer[]>([]);
  const refresh = () => open().then(setList);
  useEffect(() => {
    refresh();
  }, []);
  return (
    <>
      {list.map((offer) => (
        <section key={offer} class="offer" aria-label={offers[offer].label}>
          <p>{offers[offer].why}</p>
          <div class="buttons">
            <button type="button" class="small" onClick={() => hide(offer).then(refresh)}>
              No, thanks
            </button>
            <button
              type="button"
              class="small primary"
              onClick={() => chrome.permissions.request({ permissions: [offer] }).then(refresh)}
            >
              {offers[offer].label}
            </button>
          </div>
        </section>
      ))}
    </>
  );
}
