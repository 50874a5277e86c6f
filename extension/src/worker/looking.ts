// Looks at pages: the parts of all frames of a tab, put together.
import { isFlag, isNumber, isText, listOf, optional, shape } from '../shared/guards.ts';
import type { Bridge } from './bridges.ts';
import { type Content, Ended, type Parts, type Performer, type Stage, text } from './conductor.ts';
import { type Closed, howToAsk, notReadable } from './sites.ts';

const isFrame = shape({ at: isNumber, index: isNumber, ref: isText, near: isFlag });
const isLook = shape({
  kind: isText,
  head: isText,
  lines: listOf(isText),
  frames: listOf(isFrame),
  total: isNumber,
  next: optional(isNumber),
});
const isLooked = shape({ look: isLook });
const isFrameOnly = shape({ frame: shape({ index: isNumber, ref: isText }) });
const isSpot = shape({ index: isNumber, shown: isFlag });

type Look = Parameters<typeof headed>[0];

/** A frame of a tab as Chrome knows it, and its place among those of the window around it. */
export interface Spot {
  frameId: number;
  parentFrameId: number;
  documentId: string;
  url: string;
  index: number; // -1: none; -2: Chrome lets nobody look whether it has one
  shown: boolean;
  closed: Closed | undefined;
}

const mostFrames = 30; // that are looked into
const deepest = 6; // frames in frames
const charactersPerToken = 2.6; // of our lines, which have many signs: measured with o200k
const standardTokens = 2000;
const leastOfFrame = 700; // characters
const connectMs = 1500;

/** The documents of a tab. */
export class Documents {
  readonly #parts: Pick<Parts, 'bridges' | 'injector' | 'references'>;

  constructor(parts: Pick<Parts, 'bridges' | 'injector' | 'references'>) {
    this.#parts = parts;
  }

  /** The document in which a reference was given; the page's for none. */
  async of(stage: Stage, ref: string | undefined): Promise<Bridge> {
    const top = await stage.top();
    if (ref === undefined || !/^f\d+(?:e\d+)?$/.test(ref)) return top;
    const given = await this.#parts.references.frame(stage.tabId, ref);
    if (given === undefined)
      throw Ended.as('VALIDATION_ERROR', `${ref} was never given in this tab`, { category: 'validation' });
    const there = this.#parts.bridges
      .of(stage.tabId)
      .find(({ documentId }) => documentId === given.documentId);
    const bridge = there ?? (await this.#unvisited(stage, given.documentId));
    if (bridge !== undefined) return bridge;
    const hint = 'Take a new snapshot, and use a reference of it.';
    if (given.top !== top.documentId) {
      const message = `${ref} is of an earlier page: the tab shows another document since`;
      throw Ended.as('DOCUMENT_CHANGED', message, { category: 'not_found', hint });
    }
    const message = `${ref} is in a frame that is gone, or shows another document since`;
    throw Ended.as('FRAME_GONE', message, { category: 'not_found', hint });
  }

  // A frame that was named to an agent before anybody looked into it.
  async #unvisited(stage: Stage, documentId: string): Promise<Bridge | undefined> {
    const spot = (await this.spots(stage)).find((one) => one.documentId === documentId);
    return spot && this.#enter(stage, spot);
  }

  /**
   * The document of the frame that an agent names: by the reference of the frame's line, by any reference in it, or as
   * f1. What names none is refused, with those there are: the page itself never stands in for a frame.
   */
  async frame(stage: Stage, name: string): Promise<Bridge> {
    try {
      const [, frame = '', ref = ''] = /^(f\d+)?(e\d+)?$/.exec(name) ?? [];
      if (frame === '' && ref === '') throw noFrame(name, 'names no frame');
      const around = await this.of(stage, name);
      const index = ref === '' ? undefined : await frameOf(around, name);
      if (index !== undefined) return await this.shownBy(stage, around, index);
      if (frame === '') throw noFrame(name, 'is in no frame of this page');
      return around;
    } catch (why) {
      if (!(why instanceof Ended) || why.ending.status !== 'threw') throw why;
      const { error } = why.ending;
      const message = `${error.message}. ${await this.#named(stage)}`;
      const hint = 'Pass one of these, or a reference in it; leave frame out to mean the page itself.';
      throw new Ended({ ...why.ending, error: { ...error, message, hint } });
    }
  }

  // What an agent can pass to mean one of the frames that a tab shows.
  async #named(stage: Stage): Promise<string> {
    const { tabId } = stage;
    const top = await stage.top();
    const spots = await this.spots(stage).catch(() => []);
    const all: string[] = [];
    for (const { frameId, documentId, url } of spots.slice(0, mostFrames)) {
      const { prefix } = await this.#parts.references.about({ tabId, frameId, documentId }, top);
      all.push(`${prefix.replace(/e$/, '')} (${originOf(url)})`);
    }
    if (all.length === 0) return 'The page shows no frames';
    const more = spots.length > all.length ? `, and ${spots.length - all.length} more` : '';
    return `The page shows ${all.join(', ')}${more}`;
  }

  /** The frames in a tab that are shown, by their places. */
  async spots(stage: Stage): Promise<Spot[]> {
    return (await this.everySpot(stage)).filter(({ index, shown }) => shown && index > -2);
  }

  /** All of them. */
  async everySpot(stage: Stage): Promise<Spot[]> {
    const [all, places] = await Promise.all([
      stage.standing(),
      chrome.scripting.executeScript({
        target: { tabId: stage.tabId, allFrames: true },
        injectImmediately: true,
        func: () => {
          let index = -1;
          for (let i = 0; i < parent.length && index < 0; i++) if (parent[i] === window) index = i;
          return { index, shown: innerWidth > 1 && innerHeight > 1 };
        },
      }),
    ]);
    return all.flatMap(({ chain, ...frame }) => {
      if (frame.frameId === 0) return [];
      const said: unknown = places.find((one) => one.documentId === frame.documentId)?.result;
      const place = isSpot(said) ? said : { index: -2, shown: true };
      return [{ ...frame, ...place, closed: stage.border.closed(chain) }];
    });
  }

  /** The document that an element of another one shows. */
  async shownBy(stage: Stage, around: Bridge, index: number): Promise<Bridge> {
    const spots = await this.spots(stage);
    const alike = spots.filter((one) => one.parentFrameId === around.frameId && one.index < 0);
    if (index < 0 && alike.length > 1)
      // in a shadow root, where Chrome does not tell which is which
      throw Ended.as('VALIDATION_ERROR', 'Several frames stand where Chrome does not tell them apart', {
        category: 'validation',
        hint: 'Take a snapshot of the page, and use a reference in the frame.',
      });
    const spot = spotOf(spots, around.frameId, index, 0);
    const inner = spot && (await this.#enter(stage, spot));
    if (inner === undefined)
      throw Ended.as('FRAME_GONE', 'The frame shows nothing that can be read', { category: 'not_found' });
    return inner;
  }

  /** The document of the tab and those of the frames it shows, but for those that may not be looked into. */
  async all(stage: Stage): Promise<{ bridges: Bridge[]; closed: Closed[]; unseen: number }> {
    const spots = await this.spots(stage).catch(() => []);
    const open = spots.filter((spot) => spot.closed === undefined);
    const tried = open.slice(0, mostFrames).map((spot) => this.inFrame(stage, spot).catch(() => undefined));
    const inner = (await Promise.all(tried)).filter((one) => one !== undefined);
    const closed = spots.flatMap((spot) => spot.closed ?? []);
    return { bridges: [await stage.top(), ...inner], closed, unseen: open.length - inner.length };
  }

  /** The bridge of a frame, put into it when it has none; undefined where nobody may, or can, look. */
  async inFrame(stage: Stage, spot: Spot): Promise<Bridge | undefined> {
    if (spot.closed !== undefined) return undefined;
    const { bridges, injector } = this.#parts;
    const known = bridges.of(stage.tabId).find(({ documentId }) => documentId === spot.documentId);
    return known ?? injector.frameBridge(stage.tabId, spot.documentId, connectMs);
  }

  // The same for a call that is for this very frame.
  async #enter(stage: Stage, spot: Spot): Promise<Bridge | undefined> {
    if (spot.closed !== undefined) throw stage.closedBy(spot.closed);
    return this.inFrame(stage, spot);
  }
}

const noFrame = (name: string, why: string): Ended =>
  Ended.as('VALIDATION_ERROR', `frame ${JSON.stringify(name.slice(0, 60))} ${why}`, {
    category: 'validation',
  });

// Of a frame without an address of its own, what kind it is.
const originOf = (url: string): string =>
  /^https?:/.test(url) ? new URL(url).origin : url.replace(/^(about:\w+|\w+:).*/s, '$1');

/** The place of a frame in its window, where a reference is that of its line. */
async function frameOf({ tabId, documentId }: Bridge, ref: string): Promise<number | undefined> {
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

/** The frame of a line among those of its parent. */
function spotOf(spots: readonly Spot[], parentFrameId: number, index: number, nth: number): Spot | undefined {
  const inside = spots.filter((spot) => spot.parentFrameId === parentFrameId);
  if (index >= 0) return inside.find((spot) => spot.index === index);
  return inside.filter((spot) => spot.index < 0).sort((a, b) => a.frameId - b.frameId)[nth];
}

/** Frames on the screen are looked into first. */
const nearFirst = <Frame extends { near: boolean }>(frames: readonly Frame[]): Frame[] =>
  frames.toSorted((a, b) => Number(b.near) - Number(a.near));

interface Walk {
  stage: Stage;
  spots: Spot[] | undefined;
  args: Record<string, unknown>;
  characters: number; // left
  frames: number; // looked into
}

export function lookingAt(
  documents: Documents,
): (stage: Stage, given?: Record<string, unknown>) => Promise<{ content: Content[] }> {
  const ask = async (
    walk: Walk,
    bridge: Bridge,
    args: Record<string, unknown>,
    part?: unknown,
  ): Promise<unknown> =>
    walk.stage.part(bridge, 'snapshot', {
      ...args,
      _: { characters: Math.max(leastOfFrame, Math.round(walk.characters)), part },
    });

  // A document, and the frames in it where they stand.
  async function whole(walk: Walk, bridge: Bridge, answer: unknown, depth: number): Promise<Look> {
    if (!isLooked(answer)) throw new Error('The page answered no look');
    const { look } = answer;
    walk.characters -= look.lines.reduce((sum, line) => sum + line.length + 1, 0);
    if (look.frames.length === 0 || depth >= deepest) return look;
    walk.spots ??= await documents.spots(walk.stage);
    const inserted: { at: number; lines: string[] }[] = [];
    let unplaced = 0;
    const placed = look.frames.map((frame) => ({ ...frame, nth: frame.index < 0 ? unplaced++ : 0 }));
    for (const { nth, ...frame } of nearFirst(placed)) {
      const spot = spotOf(walk.spots, bridge.frameId, frame.index, nth);
      if (spot === undefined) {
        // Chrome lets nobody look into some, such as those of addresses that begin with blob:.
        if (frame.at >= 0) inserted.push({ at: frame.at, lines: ['(could not be read)'] });
        continue;
      }
      if (spot.closed !== undefined) {
        tellClosed(look, frame, spot.closed);
        continue;
      }
      if (walk.frames >= mostFrames) {
        if (frame.at >= 0) inserted.push({ at: frame.at, lines: [`(not looked into: ref ${frame.ref})`] });
        continue;
      }
      walk.frames++;
      const lines = await inside(walk, spot, frame.ref, depth + 1);
      if (lines.length > 0) inserted.push({ at: frame.at, lines });
    }
    return joined(look, inserted);
  }

  async function inside(walk: Walk, spot: Spot, ref: string, depth: number): Promise<string[]> {
    try {
      const bridge = await documents.inFrame(walk.stage, spot);
      if (bridge === undefined) return ['(could not be read)'];
      const { interactive, full } = walk.args;
      const look = await whole(walk, bridge, await ask(walk, bridge, { interactive, full }), depth);
      if (look.kind === 'unchanged') return [];
      const more = look.next === undefined ? [] : [`… ${look.total - look.next} more lines: ref ${ref}`];
      return [...look.lines, ...more];
    } catch (why) {
      if (walk.stage.signal.aborted) throw why;
      return ['(could not be read)']; // a frame of an error, or one that just went away or elsewhere
    }
  }

  return async (stage, given = stage.args) => {
    const { ref, maxTokens, ...args } = given;
    const tokens = isNumber(maxTokens) ? maxTokens : standardTokens;
    const characters = Math.min(
      tokens * charactersPerToken,
      stage.frame.maxBytes ?? Number.POSITIVE_INFINITY,
    );
    const walk: Walk = { stage, spots: undefined, args, characters, frames: 0 };
    let bridge = await documents.of(stage, isText(ref) ? ref : undefined);
    let answer = await ask(walk, bridge, { ...args, ...(isText(ref) && { ref }) });
    if (isFrameOnly(answer)) {
      bridge = await documents.shownBy(stage, bridge, answer.frame.index);
      answer = await ask(walk, bridge, args, ref);
    }
    if (isText(ref)) stage.isFor(bridge);
    return text(headed(await whole(walk, bridge, answer, 0)));
  };
}

// In the line that names the frame, where one does.
function tellClosed(look: Look, { at, ref }: { at: number; ref: string }, closed: Closed): void {
  const named = ` [${ref}]`;
  const line = at >= 0 ? at : look.lines.findIndex((one) => one.includes(named) && /^\W*frame /.test(one));
  const more = closed.state === 'ask' ? ` ${howToAsk}` : '';
  const told = look.lines[line]?.replace(named, () => ` ${notReadable(closed)}${named}`);
  if (told !== undefined) look.lines[line] = told + more;
}

/** Reads the page, or the frame that a reference names or is in. */
export function reading(documents: Documents): Performer {
  return async (stage) => {
    const { ref, ...args } = stage.args;
    const bridge = await documents.of(stage, isText(ref) ? ref : undefined);
    const answer = await stage.part(bridge, 'read', stage.args);
    stage.isFor(bridge);
    if (!isFrameOnly(answer)) return withFrames(stage, bridge, answer);
    const inner = await documents.shownBy(stage, bridge, answer.frame.index);
    stage.isFor(inner);
    return withFrames(stage, inner, await stage.part(inner, 'read', args));
  };

  // Of frames that may not be read no more than the site is told.
  async function withFrames(stage: Stage, bridge: Bridge, answer: unknown): Promise<unknown> {
    if (!isFraming(answer)) return answer;
    const spots = await documents.spots(stage);
    let unplaced = 0;
    const frames = answer.frames.map(({ index, ...frame }) => {
      const closed = spotOf(spots, bridge.frameId, index, index < 0 ? unplaced++ : 0)?.closed;
      return closed === undefined ? frame : { ref: frame.ref, frame: notReadable(closed) };
    });
    return { ...answer, frames };
  }
}

const isFraming = shape({ frames: listOf(shape({ ref: isText, url: isText, index: isNumber })) });

const isFound = shape({
  lines: listOf(isText),
  frames: listOf(isFrame),
  total: isNumber,
  partial: isFlag,
});

/** Finds in all frames of a tab. */
export function findingIn(documents: Documents): Performer {
  return async (stage) => {
    let spots: Spot[] | undefined;
    let total = 0;
    let partial = false;
    let unseen = 0; // frames
    const closed: string[] = [];
    const lines: string[] = [];
    const visit = async (bridge: Bridge, depth: number): Promise<void> => {
      const found = await stage.part(bridge, 'find', stage.args);
      if (!isFound(found)) throw new Error('The page answered nothing that was found');
      total += found.total;
      partial ||= found.partial;
      lines.push(...found.lines);
      let unplaced = 0;
      const placed = found.frames.map((frame) => ({ ...frame, nth: frame.index < 0 ? unplaced++ : 0 }));
      const frames = depth < deepest ? nearFirst(placed).slice(0, mostFrames) : [];
      unseen += placed.length - frames.length;
      for (const { index, nth, ref } of frames) {
        spots ??= await documents.spots(stage);
        const spot = spotOf(spots, bridge.frameId, index, nth);
        if (spot?.closed !== undefined) {
          const more = spot.closed.state === 'ask' ? ` ${howToAsk}` : '';
          closed.push(`frame ${notReadable(spot.closed)} [${ref}]${more}`);
          continue;
        }
        const inner = spot && (await documents.inFrame(stage, spot).catch(() => undefined));
        if (inner === undefined) unseen++;
        else await visit(inner, depth + 1);
      }
    };
    await visit(await stage.top(), 0);
    const more = total > lines.length ? [`… ${total - lines.length} more`] : [];
    if (total === 0) more.push(partial ? 'nothing found so far' : 'nothing found');
    if (partial) more.push('(not all of the page: it is so large that looking through it took too long)');
    if (total === 0) more.push(...sayUnseen(unseen));
    more.push(...few(closed));
    return text([...lines, ...more].join('\n'));
  };
}

const mostClosed = 5;

// A page can have many, with advertisements.
const few = (closed: readonly string[]): string[] =>
  closed.length <= mostClosed
    ? [...closed]
    : [...closed.slice(0, mostClosed), `(${closed.length - mostClosed} more frames not readable)`];

/** Tells which frames were not looked into because they may not be. */
export const sayClosed = (closed: readonly Closed[]): string[] =>
  few(Array.from(new Set(closed.map((one) => `frame ${notReadable(one)}`))));

/** Says that what is not there may be in a frame. */
export const sayUnseen = (frames: number): string[] =>
  frames > 0 ? [`(frames that were not looked into: ${frames})`] : [];

// Lines of frames go below the line that names the frame; of a look that tells only changes, to the end.
function joined(look: Look, inserted: readonly { at: number; lines: string[] }[]): Look {
  if (inserted.length === 0) return look;
  const lines: string[] = [];
  look.lines.forEach((line, at) => {
    lines.push(line);
    const indent = ' '.repeat(line.length - line.trimStart().length + 1);
    for (const one of inserted) if (one.at === at) lines.push(...one.lines.map((inner) => indent + inner));
  });
  for (const one of inserted) if (one.at < 0) lines.push(...one.lines);
  const kind = look.kind === 'unchanged' && lines.length > 0 ? 'changes' : look.kind;
  return { ...look, kind, lines };
}

function headed(look: {
  kind: string;
  head: string;
  lines: string[];
  frames: unknown[];
  total: number;
  next?: number | undefined;
}): string {
  if (look.kind === 'unchanged') return 'unchanged';
  if (look.kind === 'changes') return ['changed:', ...look.lines].join('\n');
  const more = look.next === undefined ? [] : [`… ${look.total - look.next} more lines: from ${look.next}`];
  return [look.head, ...look.lines, ...more].join('\n');
}
