// Places in pictures: an agent names what has no reference, such as a part of a canvas, by where the picture shows it.
import { isFlag, isNumber, isRecord, isText, optional, shape } from '../../shared/guards.ts';
import { type Documents, spotAt } from '../../worker/calls/documents.ts';
import { Ended, type ToolRun } from '../../worker/calls/tool-runner.ts';
import type { Bridge } from '../../worker/documents/bridges.ts';

/** What the last picture of a tab showed to an agent. */
export interface Taken {
  number: number;
  whole: boolean; // its places are of the page, not of the window
  documentId: string;
  width: number; // in pixels
  height: number;
  scale: number; // pixels to one of CSS
  left: number; // of the window, or the page, in pixels of CSS
  top: number;
}

interface Point {
  x: number;
  y: number;
}

const mostTaken = 100;

const isBox = shape({ x: isNumber, y: isNumber, width: isNumber, height: isNumber });
const isThere = shape({
  x: isNumber,
  y: isNumber,
  changed: optional(isText),
  frame: optional(shape({ index: isNumber, box: isBox, warped: isFlag })),
});

/** The last pictures, and what is at places in them. */
export class Places {
  readonly #documents: Documents;
  readonly #taken = new Map<string, Taken>();

  constructor(documents: Documents) {
    this.#documents = documents;
  }

  remember(run: ToolRun, taken: Taken): void {
    const key = keyOf(run);
    this.#taken.delete(key);
    this.#taken.set(key, taken);
    for (const oldest of this.#taken.keys()) {
      if (this.#taken.size <= mostTaken) break;
      this.#taken.delete(oldest);
    }
  }

  /**
   * The arguments of an act with places in a document's window instead of places in the picture, and the document;
   * undefined where they name none.
   */
  async find(run: ToolRun): Promise<{ bridge: Bridge | undefined; args: Record<string, unknown> }> {
    let bridge: Bridge | undefined;
    const convert = async (args: Record<string, unknown>): Promise<Record<string, unknown>> => {
      const { pointed: _, place: __, x, y, ...others } = args; // the first two are only ours to say
      if (x === undefined && y === undefined) return others;
      const found = await this.#findOne(run, { x, y }, others);
      if (bridge !== undefined && bridge !== found.bridge) throw ofSeveralFrames();
      bridge = found.bridge;
      return found.args;
    };
    const args = await convert(run.args);
    if (!Array.isArray(args.steps)) return { bridge, args };
    const steps: unknown[] = [];
    for (const step of args.steps) steps.push(isRecord(step) ? await convert(step) : step);
    return { bridge, args: { ...args, steps } };
  }

  async #findOne(
    run: ToolRun,
    { x, y }: { x: unknown; y: unknown },
    args: Record<string, unknown>,
  ): Promise<{ bridge: Bridge; args: Record<string, unknown> }> {
    if (!isNumber(x) || !isNumber(y)) throw wrong('x and y are two numbers');
    if (isText(args.ref)) throw wrong('Pass either ref or x and y: a reference says where it is');
    if (args.action === 'select') throw wrong('select takes ref: only what has words can be selected');
    const taken = this.#taken.get(keyOf(run));
    if (taken === undefined)
      throw wrong(
        `x and y are a place in the last picture of tab ${run.tabId}, and this session has taken none`,
        'Call screenshot first.',
      );
    if (x < 0 || y < 0 || x >= taken.width || y >= taken.height)
      throw wrong(`${x}, ${y} is outside of the picture, which is ${taken.width} x ${taken.height} pixels`);
    const top = await run.top();
    if (top.documentId !== taken.documentId) throw changedPage();
    const { scale } = taken;
    const { bridge, point } = await this.#document(run, top, taken, {
      x: taken.left + x / scale,
      y: taken.top + y / scale,
    });
    const whole = taken.whole && bridge.frameId === 0; // of a frame in it the window is pictured
    const pointed = { ...point, number: taken.number, whole };
    const { at } = args;
    const offset = isRecord(at) && {
      at: { x: isNumber(at.x) ? at.x / scale : 0, y: isNumber(at.y) ? at.y / scale : 0 },
    };
    return { bridge, args: { ...args, ...offset, pointed } };
  }

  // The document at a place, that of the page or of a frame in it, and the place in its window.
  async #document(
    run: ToolRun,
    top: Bridge,
    taken: Taken,
    place: Point,
  ): Promise<{ bridge: Bridge; point: Point }> {
    let bridge = top;
    let at = place;
    for (;;) {
      const there = await atPlace(run, bridge, taken, at);
      if (there.changed === 'document') throw changedPage();
      if (there.changed !== undefined)
        throw Ended.as('TARGET_CHANGED', 'The page was scrolled, zoomed or resized since the picture', {
          category: 'not_found',
          hint: pictureAgain,
        });
      if (there.frame === undefined) return { bridge, point: at };
      const { index, box, warped } = there.frame;
      if (warped) throw wrong('There is a frame that is drawn turned or scaled: places in it are not known');
      const spot = spotAt(await this.#documents.shownSpots(run), bridge.frameId, index, 0);
      if (spot?.closed !== undefined) throw run.closedBy(spot.closed);
      const inner = spot && (await this.#documents.inFrame(run, spot));
      if (inner === undefined) throw wrong('There is a frame that cannot be read');
      bridge = inner;
      at = { x: there.x - box.x, y: there.y - box.y };
    }
  }
}

// Asked beside the call, whose first part is the act.
async function atPlace(run: ToolRun, bridge: Bridge, { number, whole }: Taken, { x, y }: Point) {
  await run.admit(bridge);
  const inFrame = bridge.frameId !== 0;
  const [said] = await chrome.scripting
    .executeScript({
      target: { tabId: run.tabId, documentIds: [bridge.documentId] },
      injectImmediately: true,
      args: [run.frame.viewer ?? '', { number, whole: whole && !inFrame }, x, y] as const,
      func: (viewer, picture, left, top) =>
        globalThis.tabrelayAtPlace?.(viewer, picture, left, top) ?? { changed: 'document', x: left, y: top },
    })
    .catch(() => []);
  const result: unknown = said?.result;
  if (!isThere(result)) throw changedPage();
  return result;
}

const pictureAgain = 'Take a new picture, and say where it is in that one.';

const changedPage = (): Ended =>
  Ended.as('DOCUMENT_CHANGED', 'The last picture shows another page than there is now', {
    category: 'not_found',
    hint: pictureAgain,
  });

const keyOf = ({ tabId, frame }: ToolRun): string => `${tabId} ${frame.viewer ?? ''}`;

const wrong = (message: string, hint?: string): Ended =>
  Ended.as('VALIDATION_ERROR', message, { category: 'validation', ...(hint !== undefined && { hint }) });

/** The error of an act that names things in more than one document. */
export const ofSeveralFrames = (): Ended =>
  Ended.as('VALIDATION_ERROR', 'The references are of different frames', {
    category: 'validation',
    hint: 'Make a call for each frame.',
  });
