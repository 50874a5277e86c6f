// One document's part of a look at a page. The worker puts the parts of all frames together (worker/looking.ts).

import { changes } from './changes.ts';
import { line } from './dom.ts';
import { overlaps } from './drawn.ts';
import { type Line, lines, type Options } from './tree.ts';
import { cut, named, says, sayText } from './words.ts';

/** What a document shows, as far as the budget goes. */
export interface Look {
  kind: 'whole' | 'changes' | 'unchanged';
  head: string; // title and address
  lines: string[];
  frames: Frame[]; // that are displayed
  total: number; // lines there are
  next?: number; // the line to go on with
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
  characters: number; // that the lines may have
  full: boolean; // not only what changed since the same viewer looked the same way
  viewer: string;
}

interface Seen {
  text: string;
  element: WeakRef<Element>;
}

declare global {
  /** What viewers have been shown, kept beside the code. */
  var tabrelayLooks: Map<string, Seen[]> | undefined;
}

const mostLooks = 12; // that are kept: viewers times ways to look

/** Looks at the document, or at what an element holds. */
export function look(root: Document | Element, key: string, request: Request): Look {
  const now = lines(root, { ...request, anew: request.full });
  const shown = withHead(now);
  const head = sayHead();
  const seen = remember(`${request.viewer} ${key} ${request.interactive === true}`, shown, request.from > 0);
  if (seen !== undefined && !request.full && request.from === 0) {
    const news = sayChanges(seen, shown);
    if (news.length === 0)
      return { kind: 'unchanged', head, lines: [], frames: framesIn(now, -1), total: now.length };
    const length = news.reduce((sum, { text }) => sum + text.length + 1, 0);
    const whole = now.reduce((sum, { text }) => sum + text.length + 1, 0);
    if (length <= whole / 2 && length <= request.characters)
      return {
        kind: 'changes',
        head,
        lines: news.map(({ text }) => text),
        frames: framesIn(now, -1),
        total: now.length,
      };
  }
  const part: Line[] = [];
  let left = request.characters;
  for (const one of now.slice(request.from)) {
    left -= one.text.length + one.depth + 1;
    if (left < 0 && part.length > 0) break;
    part.push(one);
  }
  const end = request.from + part.length;
  return {
    kind: 'whole',
    head,
    lines: part.map(({ depth, text }) => ' '.repeat(Math.min(depth, 12)) + text),
    frames: framesIn(part, 0),
    total: now.length,
    ...(end < now.length && { next: end }),
  };
}

/** What is different between two looks at this document, in lines. */
export const difference = (before: readonly Line[], now: readonly Line[]): string[] =>
  sayChanges(
    before.map(({ text, element }) => ({ text, element: weakly(element) })),
    now,
  ).map(({ text }) => text);

/** A viewer was told what changed since a moment: where they knew the page as it was then, they know it now. */
export function told(viewer: string, before: readonly Line[], now: readonly Line[]): void {
  if (root() === undefined) return; // the page emptied itself
  const key = `${viewer}  false`;
  const seen = globalThis.tabrelayLooks?.get(key)?.slice(1); // without the head
  const knew = seen?.length === before.length && seen.every(({ text }, i) => text === before[i]?.text);
  if (knew) remember(key, withHead(now), false);
}

/** What was found in a document. */
export interface Found {
  lines: string[];
  frames: Frame[];
  total: number;
}

const mostFound = 20; // in one document
const around = 120; // characters before and behind what was found

/** The things whose line has these words, and this role. */
export function find(text: string, role: string): Found {
  const all = lines(document, { everything: true });
  const wanted = line(text).toLowerCase();
  const found = all.filter(
    (one) => says(one.text, wanted) && (role === '' || one.text.startsWith(`${role} `) || one.text === role),
  );
  return {
    lines: found.slice(0, mostFound).map((one) => excerpt(one.text, wanted)),
    frames: framesIn(all, 0),
    total: found.length,
  };
}

function excerpt(text: string, wanted: string): string {
  if (text.length <= 3 * around) return text;
  const at = text.toLowerCase().indexOf(wanted);
  const from = Math.max(0, at - around);
  const to = Math.min(text.length, at + wanted.length + around);
  // The part may begin or end within quotes: it is quoted as a whole.
  return `${from > 0 ? '…' : ''}${sayText(text.slice(from, to))}${to < text.length ? '…' : ''}`;
}

function remember(key: string, now: readonly Line[], goesOn: boolean): Seen[] | undefined {
  globalThis.tabrelayLooks ??= new Map();
  const looks = globalThis.tabrelayLooks;
  const before = looks.get(key);
  if (goesOn && before !== undefined) return before;
  looks.delete(key);
  looks.set(
    key,
    now.map(({ text, element }) => ({ text, element: weakly(element) })),
  );
  for (const oldest of looks.keys()) {
    if (looks.size <= mostLooks) break;
    looks.delete(oldest);
  }
  return before;
}

const held = new WeakMap<Element, WeakRef<Element>>();

function weakly(element: Element): WeakRef<Element> {
  let known = held.get(element);
  if (known === undefined) {
    known = new WeakRef(element);
    held.set(element, known);
  }
  return known;
}

// New lines begin with +, those that say something else with ~, and those that are gone with -.
function sayChanges(seen: readonly Seen[], now: readonly Line[]): { text: string }[] {
  const { added, gone } = changes(seen, now);
  const goneOf = new Map<Element, number>();
  gone.forEach(({ element }, at) => {
    const one = element.deref();
    if (one !== undefined) goneOf.set(one, at);
  });
  const replaced = new Set<number>();
  const said = added.map(({ text, element }) => {
    const at = goneOf.get(element);
    if (at === undefined || replaced.has(at)) return { text: `+ ${text}` };
    replaced.add(at);
    return { text: `~ ${text}` };
  });
  const lost = gone.filter((_, at) => !replaced.has(at));
  for (const { text } of lost.slice(0, 20)) said.push({ text: `- ${cut(text, 80)}` });
  if (lost.length > 20) said.push({ text: `- ${lost.length - 20} more lines` });
  return said;
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
  const shown = element instanceof HTMLIFrameElement ? element.contentWindow : null;
  if (shown === null) return -1;
  for (let i = 0; i < window.length; i++) if (window[i] === shown) return i;
  return -1;
}
