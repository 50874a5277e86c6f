// Where a call acts: the site with its icon, and the tab's title in quotes, since the page chooses it.
import { useState } from 'preact/hooks';
import type { Tab } from './answers.generated.ts';
import { visibleLine } from './words.ts';

/** An origin for display: without its scheme if that is https. */
export const siteOf = (origin: string): string => visibleLine(origin.replace(/^https:\/\//, ''));

/** A site's icon from Chrome's cache, without a request to the site; else a plain square. */
function SiteIcon({ url }: { url: string }) {
  const [broken, setBroken] = useState('');
  const source = `/_favicon/?${new URLSearchParams({ pageUrl: url, size: '32' })}`;
  if (broken === source || !/^https?:/.test(url)) return <span class="site-icon" aria-hidden="true" />;
  return <img class="site-icon" src={source} alt="" onError={() => setBroken(source)} />;
}

export function Place({
  origin,
  tab,
  profile,
}: {
  origin: string;
  tab?: Tab | undefined;
  profile?: string | null | undefined; // its name, when it is another one than this
}) {
  if (!origin && !profile) return null;
  return (
    <p class="place">
      {origin && <SiteIcon url={tab?.url.startsWith(origin) ? tab.url : origin} />}
      <span class="where">
        {[origin && siteOf(origin), profile && `profile ${visibleLine(profile)}`].filter(Boolean).join(' · ')}
      </span>
      {tab?.title && <q class="quiet">{visibleLine(tab.title)}</q>}
    </p>
  );
}

/** Brings a tab of this profile to the front. */
async function goToTab(tabId: number): Promise<boolean> {
  try {
    const tab = await chrome.tabs.update(tabId, { active: true });
    if (tab !== undefined) await chrome.windows.update(tab.windowId, { focused: true });
    return tab !== undefined;
  } catch {
    return false; // it was closed meanwhile
  }
}

export function GoToTab({ tabId, name }: { tabId: number; name: string }) {
  const [gone, setGone] = useState(false);
  return (
    <button
      type="button"
      class="small"
      aria-label={`Go to the tab of ${name}`}
      disabled={gone}
      onClick={async () => setGone(!(await goToTab(tabId)))}
    >
      {gone ? 'Tab closed' : 'Go to tab'}
    </button>
  );
}
