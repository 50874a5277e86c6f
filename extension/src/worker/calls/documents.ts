// Finds the documents of a tab for the browser's own tools: that of its page, and those of frames.
import { isFlag, isNumber, shape } from '../../shared/guards.ts';
import type { Bridge } from '../documents/bridges.ts';
import { isBlocked } from '../documents/inject.ts';
import { type Closed, siteOf } from '../tabs/sites.ts';
import { Ended, type Parts, type ToolRun } from './tool-runner.ts';

const isSpot = shape({ index: isNumber, shown: isFlag, frames: isNumber });

/** A frame of a tab as Chrome knows it, with its index among the frames of its parent window. */
export interface Spot {
  frameId: number;
  parentFrameId: number;
  documentId: string;
  url: string;
  index: number; // -1: none, as in a shadow root; -2: unknown, because nothing can be injected
  shown: boolean;
  closed: Closed | undefined;
}

export const mostFrames = 30; // that are read
const connectMs = 1500;

/** The documents of a tab. */
export class Documents {
  readonly #parts: Pick<Parts, 'bridges' | 'injector' | 'references'>;

  constructor(parts: Pick<Parts, 'bridges' | 'injector' | 'references'>) {
    this.#parts = parts;
  }

  /** The document that gave a reference; without one that of the page. */
  async of(run: ToolRun, ref: string | undefined): Promise<Bridge> {
    const top = await run.top();
    if (ref === undefined || !/^f\d+(?:e\d+)?$/.test(ref)) return top;
    const given = await this.#parts.references.frame(run.tabId, ref);
    if (given === undefined)
      throw Ended.as('VALIDATION_ERROR', `${ref} was never given in this tab`, { category: 'validation' });
    const there = this.#parts.bridges.of(run.tabId).find(({ documentId }) => documentId === given.documentId);
    const bridge = there ?? (await this.#unvisited(run, given.documentId));
    if (bridge !== undefined) return bridge;
    const hint = 'Take a new snapshot, and use a reference of it.';
    if (given.top !== top.documentId) {
      const message = `${ref} is from an earlier page: the tab shows another document now`;
      throw Ended.as('DOCUMENT_CHANGED', message, { category: 'not_found', hint });
    }
    const message = `${ref} is in a frame that is gone, or shows another document now`;
    throw Ended.as('FRAME_GONE', message, { category: 'not_found', hint });
  }

  // The bridge of a frame that has a reference but no bridge yet.
  async #unvisited(run: ToolRun, documentId: string): Promise<Bridge | undefined> {
    const spot = (await this.shownSpots(run)).find((one) => one.documentId === documentId);
    return spot && this.#enter(run, spot);
  }

  /**
   * The document of the frame that an agent names: by the reference of the frame's line, by any reference in it, or as
   * f1. What names none is refused, with those there are: the page itself never stands in for a frame.
   */
  async frame(run: ToolRun, name: string): Promise<Bridge> {
    try {
      const [, frame = '', ref = ''] = /^(f\d+)?(e\d+)?$/.exec(name) ?? [];
      if (frame === '' && ref === '') throw noFrame(name, 'names no frame');
      const around = await this.of(run, name);
      const index = ref === '' ? undefined : await frameIndexOf(around, name);
      if (index !== undefined) return await this.shownBy(run, around, index);
      if (frame === '') throw noFrame(name, 'is in no frame of this page');
      return around;
    } catch (why) {
      if (!(why instanceof Ended) || why.ending.status !== 'threw' || why.code === 'BROWSER_POLICY')
        throw why;
      const { error } = why.ending;
      const message = `${error.message}. ${await this.#named(run)}`;
      const hint = 'Pass one of these, or a reference in it; leave frame out to mean the page itself.';
      throw new Ended({ ...why.ending, error: { ...error, message, hint } });
    }
  }

  // A sentence with the names by which an agent can pass the frames of a tab.
  async #named(run: ToolRun): Promise<string> {
    const { tabId } = run;
    const top = await run.top();
    const spots = await this.shownSpots(run).catch(() => []);
    const all: string[] = [];
    for (const { frameId, documentId, url } of spots.slice(0, mostFrames)) {
      const { prefix } = await this.#parts.references.about({ tabId, frameId, documentId }, top);
      all.push(`${prefix.replace(/e$/, '')} (${originOf(url)})`);
    }
    if (all.length === 0) return 'The page shows no frames';
    const more = spots.length > all.length ? `, and ${spots.length - all.length} more` : '';
    return `The page shows ${all.join(', ')}${more}`;
  }

  /** The visible frames of a tab. */
  async shownSpots(run: ToolRun): Promise<Spot[]> {
    return (await this.allSpots(run)).filter(isSeen);
  }

  /** All frames of a tab. */
  async allSpots(run: ToolRun): Promise<Spot[]> {
    const [all, places] = await Promise.all([
      run.standing(),
      chrome.scripting.executeScript({
        target: { tabId: run.tabId, allFrames: true },
        injectImmediately: true,
        func: () => {
          let index = -1;
          for (let i = 0; i < parent.length && index < 0; i++) if (parent[i] === window) index = i;
          return { index, shown: innerWidth > 1 && innerHeight > 1, frames: window.length };
        },
      }),
    ]);
    const said = new Map(places.map(({ documentId, result }): [string, unknown] => [documentId, result]));
    const counts = new Map<number, number>(); // of the frames of each frame that says so
    const spots = all.flatMap(({ chain, ...frame }) => {
      const place = said.get(frame.documentId);
      if (isSpot(place)) counts.set(frame.frameId, place.frames);
      if (frame.frameId === 0) return [];
      const { index, shown } = isSpot(place) ? place : { index: -2, shown: true };
      return [{ ...frame, index, shown, closed: run.border.closed(chain), site: siteOf(chain) }];
    });
    const silent = spots.filter(({ index }) => index === -2);
    const blocked = await Promise.all(silent.map(({ documentId }) => isBlocked(run.tabId, documentId)));
    const indices = silent.map((spot) => indexAmong(spots, counts, spot));
    for (const [n, spot] of silent.entries()) {
      if (blocked[n] !== true) continue;
      // Whatever the person's rules say of the site: that they changed them would not open it.
      spot.closed = { origin: spot.site, state: 'policy', excluded: false };
      spot.index = indices[n] ?? -2;
    }
    return spots.map(({ site: _, ...spot }) => spot);
  }

  /** The document that an element of another one shows. */
  async shownBy(run: ToolRun, around: Bridge, index: number): Promise<Bridge> {
    const spots = await this.shownSpots(run);
    const alike = spots.filter((one) => one.parentFrameId === around.frameId && one.index < 0);
    if (index < 0 && alike.length > 1)
      // in a shadow root, where Chrome does not tell which is which
      throw Ended.as('VALIDATION_ERROR', 'Chrome does not tell apart several frames at that place', {
        category: 'validation',
        hint: 'Take a snapshot of the page, and use a reference in the frame.',
      });
    const spot = spotAt(spots, around.frameId, index, 0);
    const inner = spot && (await this.#enter(run, spot));
    if (inner === undefined)
      throw Ended.as('FRAME_GONE', 'The frame shows nothing that can be read', { category: 'not_found' });
    return inner;
  }

  /** The document of the tab and those of the frames it shows, but for those that may not be looked into, and what they
   * hold: a look does not come to it either. */
  async all(run: ToolRun): Promise<{ bridges: Bridge[]; closed: Closed[]; unseen: number }> {
    const every = await this.allSpots(run).catch(() => []);
    const shut = new Set(every.flatMap(({ frameId, closed }) => (closed === undefined ? [] : [frameId])));
    const spots = every.filter(isSeen);
    const open = spots.filter(({ frameId }) => !within(every, frameId, shut));
    const tried = open.slice(0, mostFrames).map((spot) => this.inFrame(run, spot).catch(() => undefined));
    const inner = (await Promise.all(tried)).filter((one) => one !== undefined);
    const closed = spots.flatMap((spot) => spot.closed ?? []);
    return { bridges: [await run.top(), ...inner], closed, unseen: open.length - inner.length };
  }

  /** The bridge of a frame, injected if it has none; undefined: the frame is closed, or nothing can be injected. */
  async inFrame(run: ToolRun, spot: Spot): Promise<Bridge | undefined> {
    if (spot.closed !== undefined) return undefined;
    const { bridges, injector } = this.#parts;
    const known = bridges.of(run.tabId).find(({ documentId }) => documentId === spot.documentId);
    return known ?? injector.frameBridge(run.tabId, spot.documentId, connectMs);
  }

  // The same, for a call that names the frame: throws if it is closed.
  async #enter(run: ToolRun, spot: Spot): Promise<Bridge | undefined> {
    if (spot.closed !== undefined) throw run.closedBy(spot.closed);
    return this.inFrame(run, spot);
  }
}

type Numbered = Pick<Spot, 'frameId' | 'parentFrameId' | 'index'>;

/**
 * The index of a frame that cannot say it: what the others of its window have left. Chrome numbers frames as they come,
 * and a window counts them in that order; those in a shadow root it does not count. -2: several places are possible.
 */
export function indexAmong(
  spots: readonly Numbered[],
  counts: ReadonlyMap<number, number>,
  { frameId, parentFrameId }: Numbered,
): number {
  const inside = spots.filter((spot) => spot.parentFrameId === parentFrameId);
  const taken = new Set(inside.map(({ index }) => index));
  const count = counts.get(parentFrameId);
  if (count === undefined) return -2;
  const left = Array.from({ length: count }, (_, at) => at).filter((at) => !taken.has(at));
  if (left.length === 0) return -1;
  const silent = inside.filter(({ index }) => index === -2).map((spot) => spot.frameId);
  silent.sort((a, b) => a - b);
  return left.length === silent.length ? (left[silent.indexOf(frameId)] ?? -2) : -2;
}

const isSeen = ({ index, shown }: Spot): boolean => shown && index > -2;

/** Whether a frame is one of these, or stands in one of them. */
function within(spots: readonly Spot[], frameId: number, frames: ReadonlySet<number>): boolean {
  const parents = new Map(spots.map((spot) => [spot.frameId, spot.parentFrameId]));
  for (let at: number | undefined = frameId; at !== undefined; at = parents.get(at))
    if (frames.has(at)) return true;
  return false;
}

const noFrame = (name: string, why: string): Ended =>
  Ended.as('VALIDATION_ERROR', `frame ${JSON.stringify(name.slice(0, 60))} ${why}`, {
    category: 'validation',
  });

// Of a frame without an address of its own, what kind it is.
const originOf = (url: string): string =>
  /^https?:/.test(url) ? new URL(url).origin : url.replace(/^(about:\w+|\w+:).*/s, '$1');

/** The index of the frame whose element has a reference; undefined: the element is no frame. */
async function frameIndexOf({ tabId, documentId }: Bridge, ref: string): Promise<number | undefined> {
  const [said] = await chrome.scripting.executeScript({
    target: { tabId, documentIds: [documentId] },
    injectImmediately: true,
    args: [ref],
    func: (name: string) => {
      const element = globalThis.tabrelayReferences?.table.byRef.get(name)?.element.deref();
      const isFrame = element instanceof HTMLIFrameElement || element instanceof HTMLFrameElement;
      if (!isFrame || !element.isConnected) return null;
      for (let i = 0; i < window.length; i++) if (window[i] === element.contentWindow) return i;
      return -1;
    },
  });
  return isNumber(said?.result) ? said.result : undefined;
}

/** The frame with an index in its parent, or, for index -1, the nth of those without an index. */
export function spotAt(
  spots: readonly Spot[],
  parentFrameId: number,
  index: number,
  nth: number,
): Spot | undefined {
  const inside = spots.filter((spot) => spot.parentFrameId === parentFrameId);
  if (index >= 0) return inside.find((spot) => spot.index === index);
  return inside.filter((spot) => spot.index < 0).sort((a, b) => a.frameId - b.frameId)[nth];
}
