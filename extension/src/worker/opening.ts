// Opens a tab and sees what becomes of its page.
import { follow, statusOf } from './following.ts';

/** What became of a page. */
export interface Opened {
  tabId: number;
  windowId: number;
  status: 'complete' | 'loading';
  begun: boolean; // it shows the page already, and has its final address
  httpStatus?: number; // when the page lets it be seen
}

/** Why a page does not load. The tab is closed again. */
export class NotLoaded extends Error {}

export async function openTab(url: string, active: boolean): Promise<Opened> {
  const { tabId, windowId, fate } = await follow(async () => {
    const tab = await chrome.tabs.create({ url, active });
    if (tab.id === undefined) throw new Error('Chrome opened no tab');
    return { tabId: tab.id, windowId: tab.windowId };
  });
  if (fate.failed !== undefined) {
    await chrome.tabs.remove(tabId).catch(() => {});
    throw new NotLoaded(fate.failed);
  }
  const httpStatus = fate.begun ? await statusOf(tabId) : undefined;
  return {
    tabId,
    windowId,
    status: fate.complete ? 'complete' : 'loading',
    begun: fate.begun,
    ...(httpStatus !== undefined && { httpStatus }),
  };
}
