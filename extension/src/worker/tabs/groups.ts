// The tab groups that show which agent owns which tab. Only where the person has allowed it (the optional permission
// "tabGroups"); their own groups, pinned tabs and what they look at stay as they are.
import { exactly, type Guarded, isNumber, isRecord, isText, listOf, shape } from '../../shared/guards.ts';

const permission: chrome.permissions.Permissions = { permissions: ['tabGroups'] };
const key = 'groups';
const none = -1; // Chrome's id of no group

const isWanted = shape({
  title: isText,
  color: exactly('blue', 'red', 'yellow', 'green', 'pink', 'purple', 'cyan', 'orange'),
  tabs: listOf(isNumber),
});
export const isGroups = shape({ groups: listOf(isWanted) });

/** One group: its name, its colour, and the ids of its tabs. */
export type Wanted = Guarded<typeof isWanted>;

interface Store {
  get(key: string): Promise<Record<string, unknown>>;
  set(items: Record<string, unknown>): Promise<void>;
}

export class Groups {
  readonly #store: Store;
  #wanted: readonly Wanted[] = [];
  #work: Promise<void> = Promise.resolve();

  /** The store must outlive the worker: it holds which tabs were put into which group. */
  constructor(store: Store) {
    this.#store = store;
    chrome.permissions.onAdded.addListener(({ permissions }) => {
      if (permissions?.includes('tabGroups')) this.show(this.#wanted);
    });
  }

  /** Makes the groups of this browser these. Tabs that were in one before, and are not any more, leave it. */
  show(wanted: readonly Wanted[]): Promise<void> {
    this.#wanted = wanted;
    this.#work = this.#work.then(() => this.#apply(wanted)).catch(() => {});
    return this.#work;
  }

  async #apply(wanted: readonly Wanted[]): Promise<void> {
    if (wanted !== this.#wanted) return; // newer ones have come meanwhile
    const allowed = await chrome.permissions.contains(permission);
    const ours = await this.#read();
    const made = new Set(ours.values());
    const owned = new Set(allowed ? wanted.flatMap(({ tabs }) => tabs) : []);
    for (const [tabId, groupId] of ours) {
      if (owned.has(tabId)) continue;
      const tab = await find(tabId);
      if (tab?.groupId === groupId) await chrome.tabs.ungroup(tabId).catch(() => {});
      ours.delete(tabId);
    }
    if (allowed) for (const group of wanted) await this.#gather(group, ours, made);
    await this.#store.set({ [key]: Object.fromEntries(ours) });
  }

  // A group cannot span windows, and tabs are not moved to another one: one group for each window.
  async #gather(
    { title, color, tabs }: Wanted,
    ours: Map<number, number>,
    made: ReadonlySet<number>,
  ): Promise<void> {
    const groups = new Map<number, number>(); // by window
    const lone: chrome.tabs.Tab[] = [];
    for (const tabId of tabs) {
      const tab = await find(tabId);
      if (tab === undefined) continue;
      // Chrome gives a tab another id when it unloads its page.
      if (!ours.has(tabId) && made.has(tab.groupId)) ours.set(tabId, tab.groupId);
      if (ours.has(tabId)) {
        // The person may have taken it out, or put it elsewhere: that stays so.
        if (tab.groupId === ours.get(tabId) && !groups.has(tab.windowId))
          groups.set(tab.windowId, tab.groupId);
      } else if (tab.groupId === none && !tab.pinned) lone.push(tab);
    }
    for (const { id, windowId } of lone) {
      if (id === undefined) continue;
      const groupId = await this.#join(id, windowId, groups.get(windowId));
      if (groupId === undefined) continue;
      ours.set(id, groupId);
      groups.set(windowId, groupId);
    }
    for (const groupId of groups.values())
      await chrome.tabGroups.update(groupId, { title, color }).catch(() => {});
  }

  // Windows without a tab strip, and tabs that are being dragged, cannot be grouped.
  #join(tabId: number, windowId: number, groupId: number | undefined): Promise<number | undefined> {
    const where = groupId === undefined ? { createProperties: { windowId } } : { groupId };
    return chrome.tabs.group({ tabIds: [tabId], ...where }).catch(() => undefined);
  }

  async #read(): Promise<Map<number, number>> {
    const { [key]: kept } = await this.#store.get(key);
    const ours = new Map<number, number>();
    if (isRecord(kept))
      for (const [tabId, groupId] of Object.entries(kept))
        if (isNumber(groupId)) ours.set(Number(tabId), groupId);
    return ours;
  }
}

const find = (tabId: number): Promise<chrome.tabs.Tab | undefined> =>
  chrome.tabs.get(tabId).catch(() => undefined);
