// Looks at pages: the parts of all frames of a tab, put together.
import { isFlag, isNumber, isRecord, isText, listOf, optional, shape } from '../page/guards.ts';
import { urlAllowed } from '../page/patterns.ts';
import type { Bridge } from './bridges.ts';
import { type Content, Ended, type Parts, type Performer, type Stage, text } from './conductor.ts';
import { isCovered } from './document.ts';

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
interface Spot {
  frameId: number;
  parentFrameId: number;
  documentId: string;
  url: string;
  index: number;
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
    if (ref === undefined || !/^f\d+e\d+$/.test(ref)) return top;
    const given = await this.#parts.references.frame(stage.tabId, ref);
    if (given === undefined)
      throw Ended.as('VALIDATION_ERROR', `${ref} was never given in this tab`, { category: 'validation' });
    const bridge = this.#parts.bridges
      .of(stage.tabId)
      .find(({ documentId }) => documentId === given.documentId);
    if (bridge !== undefined) return bridge;
    const hint = 'Take a new snapshot, and use a reference of it.';
    if (given.top !== top.documentId) {
      const message = `${ref} is of an earlier page: the tab shows another document since`;
      throw Ended.as('DOCUMENT_CHANGED', message, { category: 'not_found', hint });
    }
    const message = `${ref} is in a frame that is gone, or shows another document since`;
    throw Ended.as('FRAME_GONE', message, { category: 'not_found', hint });
  }

  /** The frames in a tab, by their places. */
  async spots(tabId: number): Promise<Spot[]> {
    const [frames, places] = await Promise.all([
      chrome.webNavigation.getAllFrames({ tabId }),
      chrome.scripting.executeScript({
        target: { tabId, allFrames: true },
        injectImmediately: true,
        func: () => {
          let index = -1;
          for (let i = 0; i < parent.length && index < 0; i++) if (parent[i] === window) index = i;
          return { index, shown: innerWidth > 1 && innerHeight > 1 };
        },
      }),
    ]);
    return (frames ?? []).flatMap(({ frameId, parentFrameId, documentId, url }) => {
      const place: unknown = places.find((one) => one.frameId === frameId)?.result;
      if (frameId === 0 || !isSpot(place) || !place.shown) return [];
      return [{ frameId, parentFrameId, documentId, url, index: place.index }];
    });
  }

  /** The document that an element of another one shows. */
  async shownBy(stage: Stage, around: Bridge, index: number): Promise<Bridge> {
    const spot = spotOf(await this.spots(stage.tabId), around.frameId, index, 0);
    const inner = spot && (await this.inFrame(stage, spot));
    if (inner === undefined)
      throw Ended.as('FRAME_GONE', 'The frame shows nothing that can be read', { category: 'not_found' });
    return inner;
  }

  /** The document of the tab and those of the frames it shows, as far as the person lets anybody look. */
  async all(stage: Stage): Promise<{ bridges: Bridge[]; unseen: number }> {
    const spots = await this.spots(stage.tabId).catch(() => []);
    const tried = spots.slice(0, mostFrames).map((spot) => this.inFrame(stage, spot).catch(() => undefined));
    const inner = (await Promise.all(tried)).filter((one) => one !== undefined);
    return { bridges: [await stage.top(), ...inner], unseen: spots.length - inner.length };
  }

  /** The bridge of a frame, put into it when it has none; undefined where the person lets nobody look. */
  async inFrame(stage: Stage, spot: Spot): Promise<Bridge | undefined> {
    const { bridges, injector } = this.#parts;
    const { matches, excludes } = stage.plugin;
    if (/^https?:/.test(spot.url) && !urlAllowed(spot.url, matches, excludes)) return undefined;
    const known = bridges.of(stage.tabId).find(({ documentId }) => documentId === spot.documentId);
    const bridge = known ?? (await injector.frameBridge(stage.tabId, spot.documentId, connectMs));
    const top = bridges.top(stage.tabId)?.origin;
    return bridge !== undefined && isCovered(bridge, top, stage.plugin) ? bridge : undefined;
  }
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
    walk.spots ??= await documents.spots(walk.stage.tabId);
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
      if (bridge === undefined) return ['(not to be read)'];
      const { interactive, full } = walk.args;
      const look = await whole(walk, bridge, await ask(walk, bridge, { interactive, full }), depth);
      if (look.kind === 'unchanged') return [];
      const more = look.next === undefined ? [] : [`… ${look.total - look.next} more lines: ref ${ref}`];
      return [...look.lines, ...more];
    } catch (why) {
      if (walk.stage.signal.aborted) throw why;
      return ['(could not be read)']; // a frame of an error, or one that just went away
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
    return text(headed(await whole(walk, bridge, answer, 0)));
  };
}

/** Reads the page, or the frame that a reference names or is in. */
export function reading(documents: Documents): Performer {
  return async (stage) => {
    const { ref, ...args } = stage.args;
    const bridge = await documents.of(stage, isText(ref) ? ref : undefined);
    const answer = await stage.part(bridge, 'read', stage.args);
    if (!isFrameOnly(answer)) return answer;
    return stage.part(await documents.shownBy(stage, bridge, answer.frame.index), 'read', args);
  };
}

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
      for (const { index, nth } of frames) {
        spots ??= await documents.spots(stage.tabId);
        const spot = spotOf(spots, bridge.frameId, index, nth);
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
    return text([...lines, ...more].join('\n'));
  };
}

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

/** Whether a value is a record with a text under a name. */
export const textIn = (value: unknown, name: string): string | undefined =>
  isRecord(value) && isText(value[name]) ? value[name] : undefined;
