import type { Bridges } from '../documents/bridges.ts';
import { Unreadable } from '../documents/unreadable.ts';
import type { Tabs } from '../tabs/tabs.ts';

/** Why nothing can run in a tab until the person does something; undefined: nothing is known to block it. */
export function whyBlocked(
  tabId: number,
  bridges: Pick<Bridges, 'of'>,
  tabs: Pick<Tabs, 'isFrozen'>,
): string | undefined {
  const shown = bridges.of(tabId).find(({ dialog }) => dialog !== undefined)?.dialog;
  if (shown !== undefined) {
    const which = shown === '' ? '' : ` (${shown})`;
    return `The page shows a dialog${which}, and runs nothing until the person closes it`;
  }
  return tabs.isFrozen(tabId) ? 'Chrome has frozen the tab until the person looks at it' : undefined;
}

/** Throws unless a tab has a web page that is loaded and not blocked. */
export function requireAwake(
  tabId: number,
  tabs: Pick<Tabs, 'get'>,
  blockedReason: (tabId: number) => string | undefined,
): void {
  const tab = tabs.get(tabId);
  if (tab === undefined) throw new Unreadable('TAB_NOT_FOUND', 'There is no such tab with a web page');
  if (tab.discarded) {
    const message = 'Chrome has put the tab to sleep; it must be opened first';
    throw new Unreadable('TAB_UNRESPONSIVE', message);
  }
  const still = blockedReason(tabId);
  if (still !== undefined) throw new Unreadable('TAB_UNRESPONSIVE', still);
}
