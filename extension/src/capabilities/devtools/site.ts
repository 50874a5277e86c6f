// The site that a call of the tools for developers is for.

import { Ended, type ToolRun } from '../../worker/calls/tool-runner.ts';
import { isOfOtherOrigin } from '../../worker/documents/document.ts';

/** The address that the tab shows, as long as it is of the site for which the call was permitted. */
export async function shownBy(run: ToolRun): Promise<URL> {
  const { url = '' } = await chrome.tabs.get(run.tabId);
  if (!/^https?:/.test(url) || isOfOtherOrigin(run.frame, url))
    throw Ended.before('TAB_CHANGED', 'The tab went to another page before the tool started');
  return new URL(url);
}
