// Reading what a tab shows, for the relay's resources. Nothing in the page is changed, and no plugin takes part.

import { isText } from '../../shared/guards.ts';
import { isBlocked } from '../../worker/documents/inject.ts';
import { inTime, Unreadable } from '../../worker/documents/unreadable.ts';
import {
  Border,
  type Closed,
  notReadable,
  type Sites,
  type Standing,
  siteOf,
  standing,
} from '../../worker/tabs/sites.ts';
import { awaitChange } from './page/changes.ts';
import { type PageText, readPage } from './page/read.ts';

interface ReadingRequest {
  tabId: number;
  kind: 'text' | 'html';
  from: number;
  max: number;
  sites?: Sites | undefined; // undefined: all may be read
}

/** What is needed to know which frames of a tab may be read. */
export interface Frames {
  covers(url: string): boolean;
  origin(documentId: string): string | undefined; // of those whose bridge says so
}

// Cuts the frames' texts, taken one after the other, to the characters from..from+max.
export function cut(frames: readonly PageText[], from: number, max: number): Omit<PageText, 'start'>[] {
  let at = 0;
  return frames.map(({ start, text, ...frame }) => {
    const first = Math.max(from - at - start, 0);
    const end = Math.max(from + max - at - start, 0);
    at += frame.total;
    return { ...frame, text: text.slice(first, end) };
  });
}

const here = { world: 'ISOLATED', injectImmediately: true } as const;
// Frames that the browser's policy closes to extensions: a script for all frames leaves them out, and says nothing.
async function blockedIn(
  tabId: number,
  all: readonly Standing[],
  reached: ReadonlySet<string>,
): Promise<{ frameId: number; frame: PageText }[]> {
  const silent = all.filter(({ documentId, frameId }) => frameId !== 0 && !reached.has(documentId));
  const blocked = await Promise.all(silent.map(({ documentId }) => isBlocked(tabId, documentId)));
  return silent
    .filter((_, at) => blocked[at])
    .map(({ frameId, chain }) => {
      const frame = leftOut({ origin: siteOf(chain), state: 'policy', excluded: false });
      return { frameId, frame };
    });
}

/** In place of a frame that may not be read. */
function leftOut(why: Closed): PageText {
  const text = `(frame ${notReadable(why)})`;
  const { origin } = why;
  return {
    url: origin,
    origin,
    title: '',
    contentType: 'text/plain',
    text,
    start: 0,
    total: text.length,
    closed: true,
  };
}

/** The frames of a tab, the top document first, as JSON. */
export async function readTab(
  { tabId, kind, from, max, sites }: ReadingRequest,
  known: Frames,
): Promise<string> {
  const target = kind === 'text' ? { tabId, allFrames: true } : { tabId };
  if (kind === 'html') await inTime(chrome.scripting.executeScript({ target, files: ['html.js'], ...here }));
  const results = await inTime(
    chrome.scripting.executeScript({
      target,
      func: readPage,
      args: [kind, from, max],
      ...here,
    }),
  );
  const found: { frameId: number; frame: PageText }[] = [];
  const all = await standing(tabId, known.origin);
  const border = sites && new Border(sites, known.covers);
  for (const { frameId, documentId, result } of results) {
    if (!result || (frameId !== 0 && result.total === 0)) continue;
    const stands = all.find((one) => one.documentId === documentId);
    if (border && stands === undefined) continue; // it came, or went, meanwhile
    const why = stands && border?.closed(stands.chain);
    found.push({ frameId, frame: why === undefined ? result : leftOut(why) });
  }
  if (found.length === 0) throw new Unreadable('TAB_CHANGED', 'The tab went to another page meanwhile');
  if (kind === 'text')
    found.push(
      ...(await inTime(blockedIn(tabId, all, new Set(results.map(({ documentId }) => documentId))))),
    );
  const frames = found.toSorted((a, b) => a.frameId - b.frameId).map(({ frame }) => frame);
  return JSON.stringify({ frames: cut(frames, from, max) });
}

const quietMs = 7000; // after which a page that does not change is answered for

interface Watched {
  tabId: number;
  kind: 'text' | 'html';
  mark: string; // what the last answer was; empty at first
}

/** Waits a while until the top document of a tab is another than at mark, and gives its new mark, as JSON. */
export async function watchTab({ tabId, kind, mark }: Watched): Promise<string> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const quiet = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), quietMs);
  });
  const change = chrome.scripting.executeScript({
    target: { tabId },
    func: awaitChange,
    args: [kind, mark],
    world: 'ISOLATED',
    injectImmediately: true,
  });
  try {
    const told: unknown = (await Promise.race([change, quiet]))?.[0]?.result;
    return JSON.stringify({ mark: isText(told) ? told : mark });
  } finally {
    clearTimeout(timer);
  }
}
