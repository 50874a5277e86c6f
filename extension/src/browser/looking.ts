// One document's part of a look at a page. The worker puts the parts of all frames together
// (capabilities/browser/looking.ts).

import { asBefore, toCompare } from './asbefore.ts';
import { changes } from './changes.ts';
import { Columns } from './columns.ts';
import { line } from './dom.ts';
import { overlaps } from './drawn.ts';
import { toldOf } from './items.ts';
import { type Line, type Options, Time } from './lines.ts';
import { newsOf, type Seen, seenOf } from './news.ts';
import { hasReference, waiting, withReference } from './plain.ts';
import { bytesOf, tokensOf } from './tokens.ts';
import { tellTargets } from './toldtargets.ts';
import { lines } from './tree.ts';
import { cut, mostOfName, named, says, withWords } from './words.ts';

/** What a document shows, as far as the budget goes. */
export interface Look {
  kind: 'whole' | 'changes' | 'unchanged';
  head: string; // title and address
  lines: string[];
  frames: Frame[]; // that are displayed
  total: number; // lines there are
  next?: number; // the line to go on with
  known?: string[]; // of all of the page: what the next page of its site is compared with
}

/** A frame in a document, by the line that names it. */
export interface Frame {
  at: number; // among the lines of the look; -1: none of them names it
  index: number; // its place among the frames of the window; -1: it is not counted there
  ref: string;
  near: boolean; // on the screen: looked into first
}

export interface Request extends Options {
  from: number; // of a whole one: the first line
  tokens: number; // that the lines may cost
  bytes: number; // that they may take
  full: boolean; // not only what changed since the same viewer looked the same way
  viewer: string;
  before?: readonly string[] | undefined; // what the viewer was told of the page before, which is told briefly
}

declare global {
  /** What viewers have been shown, kept beside the code. */
  var tabrelayLooks: Map<string, Seen[]> | undefined;
}

const charactersPerToken = 2.6; // of a value, whatever it is written in
const mostLooks = 12; // that are kept: viewers times ways to look

const lengthOf = (texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length + 1, 0);

/** Looks at the document, or at what an element holds. */
export function look(root: Document | Element, key: string, request: Request): Look {
  // What was asked for by itself is told whole, as far as the budget goes.
  const mostOfValue = root instanceof Document ? undefined : Math.round(request.tokens * charactersPerToken);
  const now = lines(root, { ...request, anew: request.full, mostOfValue });
  const shown = withHead(now);
  const head = sayHead();
  const way = `${request.viewer} ${key} ${request.interactive === true}`;
  const seen = remember(way, shown, request.from > 0);
  if (seen !== undefined && !request.full && request.from === 0) {
    const news = changesFor(way, request, seen, shown);
    if (news.length === 0)
      return { kind: 'unchanged', head, lines: [], frames: framesIn(now, -1), total: now.length };
    const length = lengthOf(news);
    const whole = lengthOf(now.map(({ text }) => text));
    const fits = tokensOf(news.join('\n')) <= request.tokens && bytesOf(news.join('\n')) <= request.bytes;
    if (length <= whole / 2 && fits) {
      tellTargets(request.viewer, news);
      return {
        kind: 'changes',
        head,
        lines: news,
        frames: framesIn(now, -1),
        total: now.length,
      };
    }
  }
  const isPlain = root instanceof Document && request.interactive !== true;
  // Of a page that draws another one in its place, its viewer knows what it showed before.
  const isRedrawn = seen !== undefined && !request.full && request.from === 0;
  const before = isRedrawn ? toCompare(seen.slice(0, toldOfLook.get(seen))) : (request.before ?? []);
  const look = wholeLook(request, head, now, isPlain ? before : undefined);
  const kept = looksKept().get(way);
  if (kept !== undefined) toldOfLook.set(kept, 1 + (look.next ?? now.length)); // with its head
  return look;
}

// How many lines of a look its viewer was told, where that is not all of them.
const toldOfLook = new WeakMap<readonly Seen[], number>();

// The page from a line on, as far as the budget goes; before: what its viewer knows of it.
function wholeLook(
  request: Request,
  head: string,
  now: readonly Line[],
  before: readonly string[] | undefined,
): Look {
  const known = asBefore(now, before ?? []);
  const columns = new Columns(now);
  const part: Line[] = [];
  let { tokens, bytes } = request;
  let end = request.from;
  for (let one = now[end]; one !== undefined; one = now[end]) {
    const told = known.get(end)?.line ?? columns.tell(end, one);
    tokens -= tokensOf(`${told.text}\n`);
    bytes -= bytesOf(told.text) + told.depth + 1;
    if ((tokens < 0 || bytes < 0) && part.length > 0) break;
    part.push(told);
    end = known.get(end)?.to ?? end + 1;
  }
  toldOf(part.map(({ element }) => element));
  tellTargets(
    request.viewer,
    part.map(({ text }) => text),
  );
  return {
    kind: 'whole',
    head,
    lines: part.map(({ depth, text }) => ' '.repeat(Math.min(depth, 12)) + text),
    frames: framesIn(part, 0),
    total: now.length,
    ...(end < now.length && { next: end }),
    ...(before !== undefined && request.from === 0 && { known: toCompare(now.slice(0, end)) }),
  };
}

/** What is different since a moment, in lines. It may be asked several times of the same moment. */
export const difference = (
  viewer: string,
  since: object,
  before: readonly Line[],
  now: readonly Line[],
): string[] => changesFor(wayOf(viewer), since, seenOf(before), now);

// What lies behind a modal dialog, as each viewer was told of it; and how that was at a moment.
const behind = new Map<string, readonly Seen[]>();
const behindAt = new WeakMap<object, readonly Seen[]>();

function changesFor(way: string, since: object, before: readonly Seen[], now: readonly Line[]): string[] {
  const hidden = behindAt.get(since) ?? behind.get(way) ?? [];
  behindAt.set(since, hidden);
  const { said, covered } = newsOf(hidden, before, now);
  behind.delete(way);
  if (covered.length > 0) behind.set(way, covered);
  for (const oldest of behind.keys()) {
    if (behind.size <= mostLooks) break;
    behind.delete(oldest);
  }
  return said;
}

// As a viewer looks at the whole page.
const wayOf = (viewer: string): string => `${viewer}  false`;

// What viewers knew at a moment: it may be said several times what they were told since.
const knownAt = new WeakMap<object, readonly Seen[]>();

/** A viewer was told what changed since a moment; what changed before that is still to be told. */
export function told(viewer: string, since: object, before: readonly Line[], now: readonly Line[]): void {
  if (root() === undefined) return; // the page emptied itself
  const key = wayOf(viewer);
  const seen = knownAt.get(since) ?? globalThis.tabrelayLooks?.get(key)?.slice(1); // without the head
  if (seen === undefined) return;
  knownAt.set(since, seen);
  const untold = changes(seen, before);
  const hidden = new Map<string, number>();
  for (const { text } of untold.added) hidden.set(text, (hidden.get(text) ?? 0) + 1);
  const known = seenOf(now).filter(({ text }) => {
    const left = hidden.get(text) ?? 0;
    if (left > 0) hidden.set(text, left - 1);
    return left === 0;
  });
  keep(key, [...seenOf(withHead([])), ...untold.gone, ...known]);
}

const mostNews = 400; // tokens: of more, a look tells it

/** What is different since a viewer looked last, where they did and that is little: they know it now. */
export function newsFor(viewer: string): string[] {
  const way = wayOf(viewer);
  const seen = looksKept().get(way);
  if (seen === undefined || root() === undefined) return [];
  const shown = withHead(lines(document));
  const hidden = behind.get(way);
  const news = changesFor(way, {}, seen, shown);
  if (tokensOf(news.join('\n')) > mostNews) {
    if (hidden === undefined) behind.delete(way);
    else behind.set(way, hidden);
    return [];
  }
  keep(way, seenOf(shown));
  return news;
}

/** What was found in a document. */
export interface Found {
  lines: string[];
  frames: Frame[];
  total: number;
  partial: boolean; // the page is so large that only a part was looked through
}

const findMs = 8000;
const mostFound = 20; // in one document
const around = 120; // characters before and behind what was found

/** The lines that have these words, and this role; plain words get a reference, too. */
export function find(text: string, role: string, viewer: string): Found {
  const wanted = line(text).toLowerCase();
  const { found, all, partial } = having(wanted, role, findMs);
  const first = found.slice(0, mostFound);
  toldOf(first.map(({ element }) => element));
  const told = first.flatMap((one) => withReference(one, wanted));
  tellTargets(viewer, told);
  return {
    lines: told.length > 0 || role !== '' ? told.map((text) => excerpt(text, wanted)) : waiting(wanted),
    frames: framesIn(all, 0),
    total: found.length,
    partial,
  };
}

/** The lines of things that can be acted on and have these words. */
export function things(text: string, ms: number): string[] {
  const wanted = line(text).toLowerCase();
  const found = having(wanted, '', ms).found.filter((one) => hasReference.test(one.text));
  return found.slice(0, mostFound).map((one) => excerpt(one.text, wanted));
}

function having(wanted: string, role: string, ms: number): { found: Line[]; all: Line[]; partial: boolean } {
  const time = new Time(ms);
  const all = lines(document, { everything: true, time });
  const found = all.filter((one) => says(one.text, wanted) && (role === '' || has(one.text, role, wanted)));
  return { found, all, partial: time.isOver };
}

// Whether a line is of a role, or has a thing of that role with these words, as lines of rows do.
function has(text: string, role: string, wanted: string): boolean {
  if (text.startsWith(`${role} `) || text === role) return true;
  const names = text.matchAll(/(?:^|[ |])([a-z]+) ("(?:[^"\\]|\\.)*") \[/g);
  return Array.from(names).some(([, word, name = '']) => word === role && says(name, wanted));
}

// A long line with its roles, names and references, and of each long text what stands around what was looked for.
function excerpt(text: string, wanted: string): string {
  if (text.length <= 3 * around) return text;
  return withWords(text, (words) => {
    if (words.length <= mostOfName) return words;
    const at = words.toLowerCase().indexOf(wanted);
    const from = Math.max(0, at - around);
    const until = at < 0 ? around : at + wanted.length + around;
    return `${from > 0 ? '…' : ''}${cut(words.slice(from), until - from)}`;
  });
}

// A page that comes out of the back/forward cache was left meanwhile: what the viewer saw last was another one.
function looksKept(): Map<string, Seen[]> {
  const kept = globalThis.tabrelayLooks;
  if (kept !== undefined) return kept;
  const looks = new Map<string, Seen[]>();
  globalThis.tabrelayLooks = looks;
  addEventListener('pageshow', ({ persisted }) => {
    if (persisted) looks.clear();
  });
  return looks;
}

function remember(key: string, now: readonly Line[], goesOn: boolean): Seen[] | undefined {
  const looks = looksKept();
  const before = looks.get(key);
  if (goesOn && before !== undefined) return before;
  keep(key, seenOf(now));
  return before;
}

function keep(key: string, seen: Seen[]): void {
  const looks = looksKept();
  looks.delete(key);
  looks.set(key, seen);
  for (const oldest of looks.keys()) {
    if (looks.size <= mostLooks) break;
    looks.delete(oldest);
  }
}

const withHead = (all: readonly Line[]): Line[] => [
  ...[root()].flatMap((element) => (element === undefined ? [] : [{ depth: 0, text: sayHead(), element }])),
  ...all,
];

// A page that is being written anew has none.
const root = (): Element | undefined => document.documentElement ?? undefined;

function sayHead(): string {
  const title = line(document.title);
  const address = cut(location.href, 300).replaceAll('[', '%5B').replaceAll('"', '%22');
  const viewer =
    document.contentType === 'application/pdf' ? " (a PDF in Chrome's viewer, which cannot be read)" : '';
  const loading = document.readyState === 'loading' ? ' (loading)' : '';
  return `page${title === '' ? '' : ` ${named(title)}`} ${address}${loading}${viewer}`;
}

function framesIn(all: readonly Line[], offset: -1 | 0): Frame[] {
  const frames: Frame[] = [];
  all.forEach(({ frame, element, ref }, at) => {
    if (frame === true && ref !== undefined)
      frames.push({
        at: offset === -1 ? -1 : at,
        index: frameIndex(element),
        ref,
        near: overlaps(element, new DOMRect(0, 0, innerWidth, innerHeight)),
      });
  });
  return frames;
}

/** The place of a frame among those of its window, by which its document knows it, too. */
export function frameIndex(element: Element): number {
  const shows =
    element instanceof HTMLIFrameElement ||
    element instanceof HTMLFrameElement ||
    element instanceof HTMLObjectElement;
  const shown = shows ? element.contentWindow : null;
  if (shown === null) return -1;
  for (let i = 0; i < window.length; i++) if (window[i] === shown) return i;
  return -1;
}
