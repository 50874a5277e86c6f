// What the relay may ask of the browser itself. Nothing that is not in this list.

import type { Recorder } from '../capabilities/recording/recorder.ts';
import { type Frames, readTab, watchTab } from '../capabilities/resources/reading.ts';
import { exactly, isFlag, isNumber, isRecord, isText, listOf, optional, shape } from '../shared/guards.ts';
import { Unreadable, unreadable } from './documents/unreadable.ts';
import { isGroups, type Wanted } from './tabs/groups.ts';
import { judgeOf } from './tabs/leading.ts';
import { type Allowed, NotLoaded, openTab } from './tabs/opening.ts';
import { renewTab } from './tabs/renew.ts';
import { Border, isSites } from './tabs/sites.ts';

const isCreate = shape({
  url: isText,
  active: optional(isFlag),
  sites: optional(isSites),
  matches: optional(listOf(isText)),
  excludes: optional(listOf(isText)),
});
const isActivate = shape({ tabId: isNumber });
const isRead = shape({
  tabId: isNumber,
  kind: exactly('text', 'html'),
  from: isNumber,
  max: isNumber,
  sites: optional(isSites),
});
const isWatch = shape({ tabId: isNumber, kind: exactly('text', 'html'), mark: isText });
const isReload = shape({ tabId: isNumber });
const isInject = shape({ tabId: isNumber, plugin: isText });
const isFollow = shape({ tabIds: listOf(isNumber) });
const isRecordStart = shape({ tabId: isNumber, origin: isText, forMs: isNumber, reload: isFlag });
const isRecorded = shape({ tabId: isNumber });
const isConsole = shape({ tabId: isNumber, holdMs: isNumber });

const aMomentMs = 1500; // for a tab to be known by its address, before it is answered for anyway

/** What the commands need of the worker. */
interface Browser {
  shown(tabId: number, waitMs: number): Promise<void>;
  get(tabId: number): { discarded: boolean } | undefined;
  standstill(tabId: number): string | undefined; // why nothing runs in it, if that is known
  frames: Frames;
  readConsole(tabId: number, holdMs: number): Promise<string>;
  reinject(tabId: number, plugin: string): Promise<void>;
  group(wanted: readonly Wanted[]): Promise<void>;
  followTools(tabIds: readonly number[]): void;
  recorder: Pick<Recorder, 'start' | 'read' | 'stop'>;
}

export type Reply =
  | { ok: true; result: Record<string, unknown> }
  | { ok: true; payload: string } // JSON that may be large
  | { ok: false; error: { code: string; message: string } };

const bad = (message: string): Reply => ({ ok: false, error: { code: 'VALIDATION_ERROR', message } });

async function createTab(params: unknown, browser: Browser): Promise<Reply> {
  if (!isCreate(params) || !/^https?:\/\//.test(params.url))
    return bad('tabs.create needs an http or https url');
  const { sites, matches = ['<all_urls>'], excludes = [] } = params;
  const allowed: Allowed | undefined = sites && {
    bounds: { sites, excludes },
    judge: judgeOf(Border.of({ sites }, { matches, excludes })),
  };
  try {
    const opened = await openTab(params.url, params.active ?? false, allowed);
    // The relay learns of a tab by its address; answered sooner, the next call would find no such tab.
    if ('tabId' in opened && opened.begun) await browser.shown(opened.tabId, aMomentMs);
    return { ok: true, result: { ...opened } };
  } catch (why) {
    if (!(why instanceof NotLoaded)) throw why;
    return { ok: false, error: { code: 'PAGE_NOT_LOADED', message: why.message } };
  }
}

// In front in its window; the window itself stays where it is, behind what the person works with.
async function activateTab(params: unknown): Promise<Reply> {
  if (!isActivate(params)) return bad('tabs.activate needs a tabId');
  const tab = await chrome.tabs.update(params.tabId, { active: true });
  if (tab === undefined)
    return { ok: false, error: { code: 'TAB_NOT_FOUND', message: 'There is no such tab' } };
  await chrome.windows.update(tab.windowId, { focused: true });
  return { ok: true, result: { tabId: params.tabId, windowId: tab.windowId } };
}

async function reloadTab(params: unknown, browser: Browser): Promise<Reply> {
  if (!isReload(params)) return bad('tabs.reload needs a tabId');
  const tabId = await renewTab(params.tabId);
  if (tabId !== params.tabId) await browser.shown(tabId, aMomentMs);
  return { ok: true, result: { tabId } };
}

async function injectAdapter(params: unknown, browser: Browser): Promise<Reply> {
  if (!isInject(params)) return bad('adapter.inject needs tabId and plugin');
  await browser.reinject(params.tabId, params.plugin);
  return { ok: true, result: { tabId: params.tabId } };
}

async function groupTabs(params: unknown, browser: Browser): Promise<Reply> {
  if (!isGroups(params)) return bad('tabs.group needs groups, each with title, color and tabs');
  await browser.group(params.groups);
  return { ok: true, result: {} };
}

async function followTools(params: unknown, browser: Browser): Promise<Reply> {
  if (!isFollow(params)) return bad('pagetools.follow needs tabIds');
  browser.followTools(params.tabIds);
  return { ok: true, result: {} };
}

async function reload(): Promise<Reply> {
  setTimeout(() => chrome.runtime.reload(), 100); // after the reply has left
  return { ok: true, result: {} };
}

// A tab with a web page that is awake.
function readable(tabId: number, browser: Browser): void {
  const tab = browser.get(tabId);
  if (tab === undefined) throw new Unreadable('TAB_NOT_FOUND', 'There is no such tab with a web page');
  if (tab.discarded) {
    const message = 'Chrome has put the tab to sleep; it must be opened first';
    throw new Unreadable('TAB_UNRESPONSIVE', message);
  }
  const still = browser.standstill(tabId);
  if (still !== undefined) throw new Unreadable('TAB_UNRESPONSIVE', still);
}

async function read(work: () => Promise<string>): Promise<Reply> {
  try {
    return { ok: true, payload: await work() };
  } catch (why) {
    const { code, message } = unreadable(why);
    return { ok: false, error: { code, message } };
  }
}

async function readPageOf(params: unknown, browser: Browser): Promise<Reply> {
  if (!isRead(params)) return bad('tabs.read needs tabId, kind, from and max');
  return read(() => {
    readable(params.tabId, browser);
    return readTab(params, browser.frames);
  });
}

async function watchPageOf(params: unknown, browser: Browser): Promise<Reply> {
  if (!isWatch(params)) return bad('tabs.watch needs tabId, kind and mark');
  return read(() => {
    readable(params.tabId, browser);
    return watchTab(params);
  });
}

async function readConsole(params: unknown, browser: Browser): Promise<Reply> {
  if (!isConsole(params)) return bad('console.read needs tabId and holdMs');
  return read(() => {
    readable(params.tabId, browser);
    return browser.readConsole(params.tabId, params.holdMs);
  });
}

// Only the relay of the person's own terminal asks for these, after they agreed.
async function startRecord(params: unknown, browser: Browser): Promise<Reply> {
  if (!isRecordStart(params)) return bad('record.start needs tabId, origin, forMs and reload');
  return read(async () => {
    const { tabId, origin, forMs, reload } = params;
    await browser.recorder.start(tabId, origin, forMs, reload);
    return '{}';
  });
}

async function readRecord(params: unknown, browser: Browser): Promise<Reply> {
  if (!isRecorded(params)) return bad('record.read needs tabId');
  return read(() => browser.recorder.read(params.tabId));
}

async function stopRecord(params: unknown, browser: Browser): Promise<Reply> {
  if (!isRecorded(params)) return bad('record.stop needs tabId');
  browser.recorder.stop(params.tabId);
  return { ok: true, result: {} };
}

const commands = new Map<string, (params: unknown, browser: Browser) => Promise<Reply>>([
  ['tabs.create', createTab],
  ['tabs.activate', activateTab],
  ['tabs.reload', reloadTab],
  ['tabs.group', groupTabs],
  ['adapter.inject', injectAdapter],
  ['tabs.read', readPageOf],
  ['tabs.watch', watchPageOf],
  ['console.read', readConsole],
  ['pagetools.follow', followTools],
  ['record.start', startRecord],
  ['record.read', readRecord],
  ['record.stop', stopRecord],
  ['reload', reload],
]);

/** Runs one command of the relay, if it is in the list. */
export async function runCommand(name: string, params: unknown, browser: Browser): Promise<Reply> {
  const command = commands.get(name);
  if (command === undefined) return bad(`The extension does not know the command ${name}`);
  try {
    return await command(isRecord(params) ? params : {}, browser);
  } catch (why) {
    const message = why instanceof Error ? why.message : String(why);
    const code = /no tab with id/i.test(message) ? 'TAB_NOT_FOUND' : 'INTERNAL_ERROR';
    return { ok: false, error: { code, message } };
  }
}
