// What the relay may ask of the browser itself. Nothing that is not in this list.
import { isFlag, isNumber, isRecord, isText, optional, shape } from '../page/guards.ts';

const isCreate = shape({ url: isText, active: optional(isFlag) });
const isActivate = shape({ tabId: isNumber });

// How long a new tab may take to show its address before it is answered for anyway.
const shownMs = 5000;

/** What the commands need of the worker. */
interface Browser {
  shown(tabId: number, waitMs: number): Promise<void>;
}

type Reply =
  | { ok: true; result: Record<string, unknown> }
  | { ok: false; error: { code: string; message: string } };

const bad = (message: string): Reply => ({ ok: false, error: { code: 'VALIDATION_ERROR', message } });

async function createTab(params: unknown, browser: Browser): Promise<Reply> {
  if (!isCreate(params) || !/^https?:\/\//.test(params.url))
    return bad('tabs.create needs an http or https url');
  const tab = await chrome.tabs.create({ url: params.url, active: params.active ?? true });
  // The relay learns of a tab by its address; answered sooner, the next call would find no such tab.
  if (tab.id !== undefined) await browser.shown(tab.id, shownMs);
  return { ok: true, result: { tabId: tab.id, windowId: tab.windowId } };
}

async function activateTab(params: unknown): Promise<Reply> {
  if (!isActivate(params)) return bad('tabs.activate needs a tabId');
  const tab = await chrome.tabs.update(params.tabId, { active: true });
  if (tab === undefined)
    return { ok: false, error: { code: 'TAB_NOT_FOUND', message: 'There is no such tab' } };
  await chrome.windows.update(tab.windowId, { focused: true });
  return { ok: true, result: { tabId: params.tabId, windowId: tab.windowId } };
}

async function reload(): Promise<Reply> {
  setTimeout(() => chrome.runtime.reload(), 100); // after the reply has left
  return { ok: true, result: {} };
}

const commands = new Map<string, (params: unknown, browser: Browser) => Promise<Reply>>([
  ['tabs.create', createTab],
  ['tabs.activate', activateTab],
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
