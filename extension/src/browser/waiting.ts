// Waits in a document until something is so, so that nobody has to ask again and again.
import { ToolError } from '@tabrelay/plugin-sdk';
import { connected, line } from './dom.ts';
import { visible } from './drawn.ts';
import { things } from './looking.ts';
import { writtenText } from './names.ts';
import { pause } from './pausing.ts';
import { pageText } from './reading/shown.ts';
import { resolve } from './references.ts';
import { sensitivity } from './secrets.ts';
import { isDisabled } from './states.ts';
import { lines } from './tree.ts';
import { cut, quote, wordsOf } from './words.ts';

export interface Condition {
  text?: string | undefined; // is displayed
  gone?: string | undefined; // a reference, or a text that is not displayed any more
  ref?: string | undefined; // is displayed and enabled
  value?: string | undefined; // of ref
  url?: string | undefined; // a part of the address
  idle?: boolean | undefined; // nothing has changed for a while, and the page is complete
}

const parsedMs = 2000;
let waited = false; // a page that never ends is waited for once

/** Looks when the page has been read to its end, or after a moment: what is still to come would be missed. */
export async function whenParsed<T>(look: () => T): Promise<T> {
  if (document.readyState === 'loading' && !waited) {
    waited = true;
    const parsed = new Promise((resolve) => {
      document.addEventListener('DOMContentLoaded', resolve, { once: true });
    });
    await Promise.race([parsed, pause(parsedMs)]);
  }
  return look();
}

const idleMs = 500;
const lookMs = 100;

/** Resolves with what was seen, once it is so. */
export async function until(
  condition: Condition,
  ms: number,
  signal: AbortSignal,
  saidMs = ms,
): Promise<string> {
  const from = performance.now();
  let changedAt = from;
  let wake = () => {};
  const observer = new MutationObserver(() => {
    changedAt = performance.now();
    wake();
  });
  observer.observe(document, { subtree: true, childList: true, attributes: true, characterData: true });
  try {
    for (;;) {
      const lookedAt = performance.now();
      const seen = holds(condition, lookedAt - Math.max(changedAt, loadedAt()));
      if (seen !== undefined) return seen;
      signal.throwIfAborted();
      const left = from + ms - performance.now();
      if (left <= 0) throw late(condition, saidMs);
      // In a large page looking must not take all of the page's time.
      await pause(Math.min(Math.max(lookMs, performance.now() - lookedAt), left));
      if (performance.now() - changedAt > lookMs * 4)
        await new Promise<void>((resolve) => {
          wake = resolve;
          pause(Math.min(lookMs * 2, left)).then(resolve);
        });
    }
  } finally {
    observer.disconnect();
  }
}

// Requests that the page made, as far as they have ended.
function loadedAt(): number {
  const entries = performance.getEntriesByType('resource');
  return entries.slice(-20).reduce((last, entry) => Math.max(last, entry.startTime + entry.duration), 0);
}

function holds(condition: Condition, quietMs: number): string | undefined {
  const { text, gone, ref, value, url, idle } = condition;
  if (text !== undefined) return displayed(text) ? there(text) : undefined;
  if (gone !== undefined)
    return isGone(gone) ? `${isRef(gone) ? gone : quote(cut(gone, 80))} is gone` : undefined;
  if (url !== undefined)
    return location.href.includes(url) ? `the address is ${cut(location.href, 200)}` : undefined;
  if (ref !== undefined) {
    const element = resolve(ref);
    if (!(element instanceof Element) || !visible(element)) return undefined;
    if (value !== undefined) return heldBy(element) === value ? `${ref} has that value` : undefined;
    return isDisabled(element) ? undefined : `${ref} is there`;
  }
  if (idle === true)
    return document.readyState === 'complete' && quietMs >= idleMs ? 'the page is idle' : undefined;
  return undefined;
}

const mostThings = 3;
const thingsMs = 1000;

// With what can be acted on there, so that who waited for it need not look for it.
function there(text: string): string {
  const found = things(text, thingsMs).slice(0, mostThings);
  return [`${quote(cut(text, 80))} is there`, ...found].join('\n');
}

/** Whether the page shows some words, as text or as the name of a thing. */
export const displayed = (text: string): boolean => {
  const { body } = document;
  if (body === null) return false;
  const wanted = line(text).toLowerCase();
  const among = (all: string) => line(all).toLowerCase().includes(wanted);
  if (among(body.innerText) || among(pageText())) return true; // with shadow roots
  // Names that no text of the page has, such as of buttons that show a picture.
  return lines(document).some((one) => wordsOf(one.text).some(among));
};

const isRef = (what: string): boolean => /^(?:f\d+)?e\d+$/.test(what);

function isGone(what: string): boolean {
  if (!isRef(what)) return !displayed(what);
  const element = resolve(what);
  return !(element instanceof Element) || !connected(element) || !visible(element);
}

function heldBy(element: Element): string | undefined {
  if (sensitivity(element) !== undefined) return undefined;
  if (
    element instanceof HTMLInputElement ||
    element instanceof HTMLTextAreaElement ||
    element instanceof HTMLSelectElement
  )
    return element.value;
  return writtenText(element).trim();
}

function late(condition: Condition, ms: number): ToolError {
  const [name = 'idle', what] = Object.entries(condition).find(([, one]) => one !== undefined) ?? [];
  const is = {
    text: 'not there',
    gone: 'still there',
    ref: 'not ready',
    url: 'not the address',
    idle: 'not idle',
  };
  const said = name === 'idle' ? 'the page is' : `${quote(cut(String(what), 80))} is`;
  const state: unknown = Reflect.get(is, name);
  return new ToolError(
    `After ${Math.round(ms / 100) / 10} s ${said} ${typeof state === 'string' ? state : 'not so'}`,
    'WAIT_TIMEOUT',
    {
      category: 'timeout',
      hint: 'Take a snapshot to see how the page is now.',
    },
  );
}
