// How the person has Chrome run plugins that are not in the package: only the edition from a store needs it.
import { useEffect, useState } from 'preact/hooks';
import { isText, listOf } from '../shared/guards.ts';
import { scriptsNeededKey } from '../shared/needed.ts';
import { userScriptsAreOn, userScriptsSwitch } from '../shared/user-scripts.ts';

const lookMs = 1000; // Chrome does not say when the switch is turned

/** What waits for user scripts; undefined when nothing does. */
function useWaiting(): readonly string[] | undefined {
  const [waiting, setWaiting] = useState<readonly string[]>();
  useEffect(() => {
    const read = async () => {
      const { [scriptsNeededKey]: stored } = await chrome.storage.local.get(scriptsNeededKey);
      setWaiting(listOf(isText)(stored) ? stored : undefined);
    };
    const changed = (changes: object) => {
      if (scriptsNeededKey in changes) void read();
    };
    void read();
    chrome.storage.local.onChanged.addListener(changed);
    return () => chrome.storage.local.onChanged.removeListener(changed);
  }, []);
  useEffect(() => {
    if (waiting === undefined) return;
    const timer = setInterval(async () => {
      if (await userScriptsAreOn()) await chrome.storage.local.remove(scriptsNeededKey);
    }, lookMs);
    return () => clearInterval(timer);
  }, [waiting]);
  return waiting;
}

// Chrome grants the permission without a question, but in a click only; without it the switch is not there.
async function openSwitch(page: string): Promise<void> {
  await chrome.permissions.request({ permissions: ['userScripts'] });
  await chrome.tabs.create({ url: page });
}

/** Shown while added plugins, or code that an agent wants to run, wait for the person's switch. */
export function UserScriptsOffer() {
  const waiting = useWaiting();
  if (waiting === undefined) return null;
  const place = userScriptsSwitch();
  const what = waiting.length === 0 ? 'code of an agent' : `plugins that you added (${waiting.join(', ')})`;
  return (
    <section class="permission" aria-label="Allow user scripts">
      <p>
        Chrome runs {what} only after you have allowed it.{' '}
        {place === undefined
          ? 'This Chrome is too old for that: update it to version 135 or newer.'
          : `On the page that the button opens, switch “${place.name}” on.`}
      </p>
      {place !== undefined && (
        <div class="buttons">
          <button type="button" class="small primary" onClick={() => void openSwitch(place.page)}>
            Open the page
          </button>
        </div>
      )}
    </section>
  );
}
