// Opens a tab and sees what becomes of its page.
import { type Bounds, isBounded, keepOut, type Way } from './border.ts';
import { type Fate, follow, statusOf } from './following.ts';
import type { Judge } from './leading.ts';
import { originOf } from './sites.ts';

/** What became of a page. */
export interface Opened {
  tabId: number;
  windowId: number;
  status: 'complete' | 'loading';
  begun: boolean; // it shows the page already, and has its final address
  httpStatus?: number; // when the page lets it be seen
}

/** A tab that was closed again, because its way led to a site that is off. */
export interface Stopped {
  stopped: string; // that site's origin
  before: boolean; // before anything was asked for
}

/** Where the tab may go. */
export interface Allowed {
  bounds: Bounds;
  judge: Judge;
}

/** Why a page does not load. The tab is closed again. */
export class NotLoaded extends Error {}

interface Led {
  tabId: number;
  windowId: number;
  fate: Fate;
  way?: Way;
}

const blankMs = 1000;

async function create(url: string, active: boolean): Promise<{ tabId: number; windowId: number }> {
  const tab = await chrome.tabs.create({ url, active });
  if (tab.id === undefined) throw new Error('Chrome opened no tab');
  return { tabId: tab.id, windowId: tab.windowId };
}

// The rules are about the tab, so it has to be there before it goes anywhere. It shows a blank page first: a tab that
// goes on before that has begun can lose the second page to the first.
async function lead(url: string, active: boolean, { bounds, judge }: Allowed): Promise<Led> {
  const { tabId, windowId } = await follow(() => create('about:blank', active), { beginMs: blankMs });
  const way = await keepOut(tabId, bounds, judge);
  try {
    const led = await follow(async () => {
      await chrome.tabs.update(tabId, { url });
      return { tabId, windowId };
    });
    if (led.fate.failed === undefined) await way.settled();
    return { ...led, way };
  } finally {
    await way.end();
  }
}

/** Opens a tab. For an agent it goes nowhere that is off. */
export async function openTab(url: string, active: boolean, allowed?: Allowed): Promise<Opened | Stopped> {
  if (allowed?.judge(url) === 'off') return { stopped: originOf(url), before: true };
  const bounded = allowed !== undefined && isBounded(allowed.bounds);
  const { tabId, windowId, fate, way } = bounded
    ? await lead(url, active, allowed)
    : await follow<Omit<Led, 'fate'>>(() => create(url, active));
  const stopped = bounded ? await stoppedAt(tabId, allowed.judge, way) : undefined;
  if (stopped !== undefined || fate.failed !== undefined) await chrome.tabs.remove(tabId).catch(() => {});
  if (stopped !== undefined) return { stopped, before: false };
  if (fate.failed !== undefined) throw new NotLoaded(fate.failed);
  const httpStatus = fate.begun ? await statusOf(tabId) : undefined;
  return {
    tabId,
    windowId,
    status: fate.complete ? 'complete' : 'loading',
    begun: fate.begun,
    ...(httpStatus !== undefined && { httpStatus }),
  };
}

/** The site that is off to which a tab was led; undefined: none. A service worker can answer where nothing is asked. */
export async function stoppedAt(tabId: number, judge: Judge, way?: Way): Promise<string | undefined> {
  const { url = '' } = await chrome.tabs.get(tabId);
  return way?.stopped() ?? (judge(url) === 'off' ? originOf(url) : undefined);
}
