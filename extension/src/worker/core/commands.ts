// The commands of the relay to the browser itself. Only those listed here or by a capability are carried out.

import { isFlag, isNumber, isRecord, isText, listOf, optional, shape } from '../../shared/guards.ts';
import { toUnreadable } from '../documents/unreadable.ts';
import { isGroups, type Wanted } from '../tabs/groups.ts';
import { judgeOf } from '../tabs/leading.ts';
import { type Allowed, NotLoaded, openTab } from '../tabs/opening.ts';
import { renewTab } from '../tabs/renew.ts';
import { Border, isSites } from '../tabs/sites.ts';

const isCreate = shape({
  url: isText,
  active: optional(isFlag),
  sites: optional(isSites),
  matches: optional(listOf(isText)),
  excludes: optional(listOf(isText)),
});
const isActivate = shape({ tabId: isNumber });
const isReload = shape({ tabId: isNumber });
const isInject = shape({ tabId: isNumber, plugin: isText });

const aMomentMs = 1500; // for a tab to be known by its address, before it is answered for anyway

/** What these commands need of the worker. */
interface Browser {
  shown(tabId: number, waitMs: number): Promise<void>;
  reinject(tabId: number, plugin: string): Promise<void>;
  group(wanted: readonly Wanted[]): Promise<void>;
}

export type Reply =
  | { ok: true; result: Record<string, unknown> }
  | { ok: true; payload: string } // JSON that may be large
  | { ok: false; error: { code: string; message: string } };

export type Command = (params: unknown) => Promise<Reply>;

export const bad = (message: string): Reply => ({ ok: false, error: { code: 'VALIDATION_ERROR', message } });

/** Turns the text that was read of a tab, or the error, into a reply. */
export async function answerOf(work: () => Promise<string>): Promise<Reply> {
  try {
    return { ok: true, payload: await work() };
  } catch (why) {
    const { code, message } = toUnreadable(why);
    return { ok: false, error: { code, message } };
  }
}

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

// Makes a tab the active one of its window, and focuses that window.
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

async function reload(): Promise<Reply> {
  setTimeout(() => chrome.runtime.reload(), 100); // after the reply has left
  return { ok: true, result: {} };
}

/** The commands that every worker has. */
export const commandsOf = (browser: Browser): Iterable<[string, Command]> => [
  ['tabs.create', (params) => createTab(params, browser)],
  ['tabs.activate', activateTab],
  ['tabs.reload', (params) => reloadTab(params, browser)],
  ['tabs.group', (params) => groupTabs(params, browser)],
  ['adapter.inject', (params) => injectAdapter(params, browser)],
  ['reload', reload],
];

/** Runs one command of the relay, if there is such a one. */
export async function runCommand(
  name: string,
  params: unknown,
  commands: ReadonlyMap<string, Command>,
): Promise<Reply> {
  const command = commands.get(name);
  if (command === undefined) return bad(`The extension does not know the command ${name}`);
  try {
    return await command(isRecord(params) ? params : {});
  } catch (why) {
    const message = why instanceof Error ? why.message : String(why);
    const code = /no tab with id/i.test(message) ? 'TAB_NOT_FOUND' : 'INTERNAL_ERROR';
    return { ok: false, error: { code, message } };
  }
}
