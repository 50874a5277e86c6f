// Chrome's debugger, which only the trusted flavour of the extension has: attached for one act, and let go after it.
import { Ended, type ToolRun } from './tool-runner.ts';

/** Sends one command to the page. */
export type Command = (method: string, params?: Record<string, unknown>) => Promise<Record<string, unknown>>;

const version = '1.3';
const heldMs = 10 * 60_000; // that an emulation holds without a call

/** Whether this is the flavour that has it. */
export const hasDebugger = (): boolean => chrome.debugger !== undefined;

export const needsDebugger = (what: string): Ended =>
  Ended.as('NEEDS_TRUSTED_INPUT', `${what} needs Chrome's debugger, which this extension does not have`, {
    category: 'validation',
    hint: 'Ask the person: `tabrelay up --trusted-input` brings the extension that has it.',
  });

const attached = new Map<number, number>(); // how many need it, by tab
const held = new Map<number, ReturnType<typeof setTimeout>>(); // tabs with an emulation

// The person closed Chrome's bar, or the tab is gone: nothing is attached or emulated any more.
const forget = ({ tabId = 0 }: chrome.debugger.DebuggerSession): void => {
  clearTimeout(held.get(tabId));
  held.delete(tabId);
  attached.delete(tabId);
};

let cleared: Promise<void> | undefined;

/** Lets go of tabs that a worker before this one was attached to: Chrome keeps that when a worker is killed. */
export function detachLeftovers(): Promise<void> {
  cleared ??= hasDebugger() ? detachAll() : Promise.resolve();
  return cleared;
}

async function detachAll(): Promise<void> {
  const targets = await chrome.debugger.getTargets().catch(() => []);
  const tabs = targets.flatMap(({ attached: debugged, tabId }) => (debugged && tabId ? [tabId] : []));
  await Promise.all(tabs.map((tabId) => chrome.debugger.detach({ tabId }).catch(() => {}))); // another one's
}

async function attach(tabId: number): Promise<void> {
  await detachLeftovers();
  if (!chrome.debugger.onDetach.hasListener(forget)) chrome.debugger.onDetach.addListener(forget);
  const needed = attached.get(tabId) ?? 0;
  attached.set(tabId, needed + 1);
  if (needed > 0) return;
  try {
    await chrome.debugger.attach({ tabId }, version);
  } catch (why) {
    attached.delete(tabId);
    const message = why instanceof Error ? why.message : String(why);
    throw Ended.as('DEBUGGER_REFUSED', `Chrome does not let the extension attach its debugger: ${message}`, {
      category: 'validation',
      hint: 'A policy of this computer, or another program that debugs the tab, may forbid it: ask the person.',
    });
  }
}

async function detach(tabId: number): Promise<void> {
  const needed = (attached.get(tabId) ?? 1) - 1;
  if (needed > 0) {
    attached.set(tabId, needed);
    return;
  }
  attached.delete(tabId);
  await chrome.debugger.detach({ tabId }).catch(() => {}); // the tab is gone, or the person closed the bar
}

// A page that is busy answers nothing: once the call is over, nothing is waited for.
const commandOf =
  (tabId: number, signal: AbortSignal): Command =>
  async (method, params = {}) => {
    let end = () => {};
    const over = new Promise<never>((_, reject) => {
      end = () => reject(new Error('the call is over'));
      if (signal.aborted) end();
      else signal.addEventListener('abort', end);
    });
    try {
      const answer: unknown = await Promise.race([
        over,
        chrome.debugger.sendCommand({ tabId }, method, params),
      ]);
      return typeof answer === 'object' && answer !== null ? { ...answer } : {};
    } finally {
      signal.removeEventListener('abort', end);
    }
  };

/** Does something with the debugger attached, and lets go of the tab at once. */
export async function debugging<T>(
  { tabId, signal }: Pick<ToolRun, 'tabId' | 'signal'>,
  what: string,
  work: (send: Command) => Promise<T>,
): Promise<T> {
  if (!hasDebugger()) throw needsDebugger(what);
  await attach(tabId);
  try {
    return await work(commandOf(tabId, signal));
  } finally {
    await detach(tabId);
  }
}

/** Whether the debugger stays attached for an emulation. */
export const holds = (tabId: number): boolean => held.has(tabId);

/** Keeps the debugger attached: what is emulated ends with it. */
export async function hold(tabId: number): Promise<void> {
  const before = held.get(tabId);
  if (before === undefined) await attach(tabId);
  else clearTimeout(before);
  held.set(
    tabId,
    setTimeout(() => void release(tabId), heldMs),
  );
}

export async function release(tabId: number): Promise<void> {
  const timer = held.get(tabId);
  if (timer === undefined) return;
  clearTimeout(timer);
  held.delete(tabId);
  await detach(tabId);
}
