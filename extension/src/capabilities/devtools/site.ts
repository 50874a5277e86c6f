// The site that a call of the tools for developers is for.

import { Ended, type Stage } from '../../worker/calls/conductor.ts';
import { isElsewhere } from '../../worker/documents/document.ts';

/** The address that the tab shows, as long as it is of the site for which the call was permitted. */
export async function shownBy(stage: Stage): Promise<URL> {
  const { url = '' } = await chrome.tabs.get(stage.tabId);
  if (!/^https?:/.test(url) || isElsewhere(stage.frame, url))
    throw Ended.before('TAB_CHANGED', 'The tab went to another page before the tool started');
  return new URL(url);
}
