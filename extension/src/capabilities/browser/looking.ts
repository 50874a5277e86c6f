// Looks at pages: the parts of all frames of a tab, put together.

import { bytesOf, tokensOf } from '../../browser/tokens.ts';
import { isFlag, isNumber, isText, listOf, optional, shape } from '../../shared/guards.ts';
import { type Documents, mostFrames, type Spot, spotAt } from '../../worker/calls/documents.ts';
import { type Content, type ToolHandler, type ToolRun, text } from '../../worker/calls/tool-runner.ts';
import type { Bridge } from '../../worker/documents/bridges.ts';
import { type Closed, howToAsk, notReadable } from '../../worker/tabs/sites.ts';
import { KnownPages } from './knownpages.ts';

const isFrame = shape({ at: isNumber, index: isNumber, ref: isText, near: isFlag });
const isLook = shape({
  kind: isText,
  head: isText,
  lines: listOf(isText),
  frames: listOf(isFrame),
  total: isNumber,
  next: optional(isNumber),
  known: optional(listOf(isText)),
});
const isLooked = shape({ look: isLook });
const isFrameOnly = shape({ frame: shape({ index: isNumber, ref: isText }) });

type Look = Parameters<typeof headed>[0];

const deepest = 6; // frames in frames
const standardTokens = 2000;
const leastOfFrame = { tokens: 270, bytes: 700 };

/** Frames on the screen are looked into first. */
const nearFirst = <Frame extends { near: boolean }>(frames: readonly Frame[]): Frame[] =>
  frames.toSorted((a, b) => Number(b.near) - Number(a.near));

interface Walk {
  run: ToolRun;
  spots: Spot[] | undefined;
  args: Record<string, unknown>;
  tokens: number; // left
  bytes: number; // left
  frames: number; // looked into
}

export function lookingAt(
  documents: Documents,
): (run: ToolRun, given?: Record<string, unknown>) => Promise<{ content: Content[] }> {
  const pages = new KnownPages();
  const ask = async (
    walk: Walk,
    bridge: Bridge,
    args: Record<string, unknown>,
    more: { part?: unknown; before?: readonly string[] | undefined } = {},
  ): Promise<unknown> =>
    walk.run.part(bridge, 'snapshot', {
      ...args,
      _: {
        tokens: Math.max(leastOfFrame.tokens, Math.round(walk.tokens)),
        bytes: Math.max(leastOfFrame.bytes, walk.bytes),
        ...more,
      },
    });

  // A document, and the frames in it where they stand.
  async function whole(walk: Walk, bridge: Bridge, answer: unknown, depth: number): Promise<Look> {
    if (!isLooked(answer)) throw new Error('The page returned no snapshot');
    const { look } = answer;
    const said = look.lines.join('\n');
    walk.tokens -= tokensOf(said);
    walk.bytes -= bytesOf(said);
    if (look.frames.length === 0 || depth >= deepest) return look;
    walk.spots ??= await documents.shownSpots(walk.run);
    const inserted: { at: number; lines: string[] }[] = [];
    let unplaced = 0;
    const placed = look.frames.map((frame) => ({ ...frame, nth: frame.index < 0 ? unplaced++ : 0 }));
    for (const { nth, ...frame } of nearFirst(placed)) {
      const spot = spotAt(walk.spots, bridge.frameId, frame.index, nth);
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
      const bridge = await documents.inFrame(walk.run, spot);
      if (bridge === undefined) return ['(could not be read)'];
      const { interactive, full } = walk.args;
      const look = await whole(walk, bridge, await ask(walk, bridge, { interactive, full }), depth);
      if (look.kind === 'unchanged') return [];
      const more = look.next === undefined ? [] : [`… ${look.total - look.next} more lines: ref ${ref}`];
      return [...look.lines, ...more];
    } catch (why) {
      if (walk.run.signal.aborted) throw why;
      return ['(could not be read)']; // a frame of an error, or one that just went away or elsewhere
    }
  }

  return async (run, given = run.args) => {
    const { ref, maxTokens, ...args } = given;
    const tokens = isNumber(maxTokens) ? maxTokens : standardTokens;
    const bytes = run.frame.maxBytes ?? Number.MAX_SAFE_INTEGER;
    const walk: Walk = { run, spots: undefined, args, tokens, bytes, frames: 0 };
    let bridge = await documents.of(run, isText(ref) ? ref : undefined);
    const asksForAll = run.frame.tool === 'snapshot' && args.full === true;
    const before = asksForAll ? undefined : pages.before(run, bridge);
    let answer = await ask(walk, bridge, { ...args, ...(isText(ref) && { ref }) }, { before });
    if (isLooked(answer)) pages.told(run, bridge, answer.look.known);
    if (isFrameOnly(answer)) {
      bridge = await documents.shownBy(run, bridge, answer.frame.index);
      answer = await ask(walk, bridge, args, { part: ref });
    }
    if (isText(ref)) run.isFor(bridge);
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
export function reading(documents: Documents): ToolHandler {
  return async (run) => {
    const { ref, ...args } = run.args;
    const bridge = await documents.of(run, isText(ref) ? ref : undefined);
    const answer = await run.part(bridge, 'read', run.args);
    run.isFor(bridge);
    if (!isFrameOnly(answer)) return withFrames(run, bridge, answer);
    const inner = await documents.shownBy(run, bridge, answer.frame.index);
    run.isFor(inner);
    return withFrames(run, inner, await run.part(inner, 'read', args));
  };

  // Of frames that may not be read no more than the site is told.
  async function withFrames(run: ToolRun, bridge: Bridge, answer: unknown): Promise<unknown> {
    if (!isFraming(answer)) return answer;
    const spots = await documents.shownSpots(run);
    let unplaced = 0;
    const frames = answer.frames.map(({ index, ...frame }) => {
      const closed = spotAt(spots, bridge.frameId, index, index < 0 ? unplaced++ : 0)?.closed;
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
export function findingIn(documents: Documents): ToolHandler {
  return async (run) => {
    let spots: Spot[] | undefined;
    let total = 0;
    let partial = false;
    let unseen = 0; // frames
    const closed: string[] = [];
    const lines: string[] = [];
    const visit = async (bridge: Bridge, depth: number): Promise<void> => {
      const found = await run.part(bridge, 'find', run.args);
      if (!isFound(found)) throw new Error('The page returned no search result');
      total += found.total;
      partial ||= found.partial;
      lines.push(...found.lines);
      let unplaced = 0;
      const placed = found.frames.map((frame) => ({ ...frame, nth: frame.index < 0 ? unplaced++ : 0 }));
      const frames = depth < deepest ? nearFirst(placed).slice(0, mostFrames) : [];
      unseen += placed.length - frames.length;
      for (const { index, nth, ref } of frames) {
        spots ??= await documents.shownSpots(run);
        const spot = spotAt(spots, bridge.frameId, index, nth);
        if (spot?.closed !== undefined) {
          const more = spot.closed.state === 'ask' ? ` ${howToAsk}` : '';
          closed.push(`frame ${notReadable(spot.closed)} [${ref}]${more}`);
          continue;
        }
        const inner = spot && (await documents.inFrame(run, spot).catch(() => undefined));
        if (inner === undefined) unseen++;
        else await visit(inner, depth + 1);
      }
    };
    await visit(await run.top(), 0);
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
