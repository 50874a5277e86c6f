// Pictures of pages. Chrome draws the tab in front of each window; of another one it draws a picture for its debugger.

import { isFlag, isNumber, isText, listOf, optional, shape } from '../../shared/guards.ts';
import { DocumentCover } from '../../worker/calls/cover.ts';
import { debugging, hasDebugger } from '../../worker/calls/debugger.ts';
import type { Documents, Spot } from '../../worker/calls/documents.ts';
import { type Content, Ended, type ToolHandler, type ToolRun } from '../../worker/calls/tool-runner.ts';
import type { Bridge } from '../../worker/documents/bridges.ts';
import { drawLabels, type Labelled } from './labels.ts';
import { sayClosed } from './looking.ts';
import type { Places } from './places.ts';

const isBox = shape({ x: isNumber, y: isNumber, width: isNumber, height: isNumber });
const isSize = shape({ width: isNumber, height: isNumber });
const isScene = shape({
  box: isBox,
  window: isSize,
  page: isSize,
  scroll: shape({ x: isNumber, y: isNumber }),
  masks: listOf(isBox),
  frames: listOf(shape({ index: isNumber, box: isBox, outer: isBox, warped: isFlag })),
  frame: optional(isNumber),
  numbered: optional(listOf(shape({ ref: isText, box: isBox }))),
});

interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

const mostPixels = 1280; // of the longer side; of a whole page, of its width
const mostBytes = 200 * 1024;
const mostScreens = 8; // of a whole page
const betweenMs = 520; // Chrome takes two pictures in a second
const padding = 2; // around a secret
const steadyTries = 3; // of pictures in which a secret moved

/** One picture, or several that become one. */
interface Taking {
  run: ToolRun;
  top: Bridge;
  hidden: DocumentCover;
  labels: boolean;
  number: number; // of the picture
  whole: boolean; // its places are of the page, which is scrolled for it and back again
}

/** What a part of a page shows. */
interface Shot {
  canvas: OffscreenCanvas;
  scene: { window: Size; page: Size; scroll: { x: number; y: number } };
  scale: number;
  seen: Found['seen'];
  things: Labelled[]; // with boxes in pixels of the canvas
}

/** Where the window of a document is in that of its tab, and what is seen of it. */
interface View {
  x: number;
  y: number;
  clip: Box;
}

/** What the documents of a tab say. */
interface Found {
  seen: Map<Bridge, View>;
  things: Labelled[]; // with boxes in the window of the tab
}

interface Answer {
  content: Content[];
}

type Size = Pick<Box, 'width' | 'height'>;

/** A picture as it is answered. */
interface Pressed extends Size {
  blob: Blob;
  ratio: number; // of its size to that of the canvas
  drawn: number;
  undrawn: number; // for want of room // references
}

export function picturing(documents: Documents, places: Places): ToolHandler {
  return async (run) => {
    const { ref, full, labels } = run.args;
    const tab = await chrome.tabs.get(run.tabId);
    const { state } = await chrome.windows.get(tab.windowId);
    if (state === 'minimized' || (!tab.active && !hasDebugger())) throw notDrawn(run.tabId, tab.active);
    const top = await run.top();
    const target = await documents.of(run, isText(ref) ? ref : undefined);
    const first = await look(run, top, {});
    const taking: Taking = {
      run,
      top,
      hidden: new DocumentCover(run, documents),
      labels: labels === true,
      number: crypto.getRandomValues(new Uint32Array(1))[0] ?? 0,
      whole: full === true || isText(ref),
    };
    try {
      if (isText(ref)) return await ofElement(taking, target, ref);
      if (full === true) return await ofPage(taking);
      const shot = await capture(taking, {});
      const pressed = await press(shot.canvas, mostPixels, mostPixels, shot.things);
      return answer(taking, pressed, { ...shot, left: 0, top: 0 }, [await leftOut(run)]);
    } finally {
      await taking.hidden.uncover();
      await look(run, top, { scrollTo: { x: first.scroll.x, y: first.scroll.y } }).catch(() => {});
    }
  };

  // What is black, and why.
  async function leftOut(run: ToolRun): Promise<string> {
    const spots = await documents.shownSpots(run);
    return sayClosed(spots.flatMap(({ closed }) => closed ?? [])).join('\n');
  }

  async function look(run: ToolRun, bridge: Bridge, wanted: Record<string, unknown>, ref?: string) {
    const answered = await run.part(bridge, 'screenshot', {
      ...(ref !== undefined && { ref }),
      _: { wanted },
    });
    if (!isScene(answered)) throw new Error('The page returned no layout');
    return answered;
  }

  // What must not be seen in a document and in its frames, with what else is found there.
  async function secrets(
    taking: Taking,
    bridge: Bridge,
    view: View,
    found: Found,
    depth = 0,
  ): Promise<Box[]> {
    const { run, hidden, labels, number, whole } = taking;
    found.seen.set(bridge, view);
    const picture = { number, whole: whole && depth === 0 };
    const { masks, frames, numbered = [] } = await look(run, bridge, { labels, picture });
    const moved = masks.map((box) => placed(box, view));
    for (const { ref, box } of numbered) {
      const part = common(placed(box, view), view.clip);
      if (part !== undefined) found.things.push({ ref, box: part });
    }
    if (frames.length === 0 || depth > 4) return moved;
    const spots = (await documents.allSpots(run)).filter((one) => one.parentFrameId === bridge.frameId);
    for (const { index, box, outer, warped } of frames) {
      const at = placed(box, view);
      // Of one that is not in the picture nothing is looked for: it is not drawn, and so is slow to answer.
      if (common(placed(outer, view), view.clip) === undefined) continue;
      const spot = spotAt(spots, index);
      if (spot === 'open' || (spot !== 'closed' && hidden.has(spot.documentId))) continue;
      const inner = spot === 'closed' ? undefined : await documents.inFrame(run, spot).catch(() => undefined);
      // What nobody can, or may, look into is not shown.
      const things: Labelled[] = [];
      const innerView = { ...at, clip: common(at, view.clip) ?? nowhere };
      const inside = inner && (await secrets(taking, inner, innerView, { ...found, things }, depth + 1));
      if (!warped) found.things.push(...things);
      if (inside === undefined || (warped && inside.length > 0)) moved.push(placed(outer, view));
      else moved.push(...inside);
    }
    return moved;
  }

  async function capture(taking: Taking, scrollTo: Partial<Box>): Promise<Shot> {
    const { run, top, hidden } = taking;
    const scene = await look(run, top, { scrollTo });
    const survey = async () => {
      const found: Found = { seen: new Map(), things: [] };
      const masks = await secrets(taking, top, { x: 0, y: 0, clip: { x: 0, y: 0, ...scene.window } }, found);
      return { ...found, masks };
    };
    // Secrets that moved while Chrome took the picture stand where they were in neither survey: it is taken again.
    const taken = await hidden.captureCovered(async () => {
      for (let n = 1; ; n++) {
        const before = await survey();
        const picture = await take(run);
        const after = await survey();
        if (n === steadyTries || inSamePlaces(before.masks, after.masks))
          return { ...before, masks: swept(before.masks, after.masks), picture };
      }
    });
    if (taken === undefined)
      throw Ended.before(
        'TAB_CHANGED',
        'Frames of the page kept going to other pages, so no picture was taken',
      );
    const { seen, things, masks, picture } = taken;
    const image = await createImageBitmap(await (await fetch(picture)).blob());
    const scale = image.width / scene.window.width;
    const canvas = new OffscreenCanvas(image.width, image.height);
    const pen = penOf(canvas);
    pen.drawImage(image, 0, 0);
    pen.fillStyle = '#000';
    for (const { x, y, width, height } of masks)
      pen.fillRect(
        (x - padding) * scale,
        (y - padding) * scale,
        (width + 2 * padding) * scale,
        (height + 2 * padding) * scale,
      );
    return { canvas, scene, scale, seen, things: things.map((one) => scaled(one, scale)) };
  }

  async function ofElement(taking: Taking, target: Bridge, ref: string): Promise<Answer> {
    const { run } = taking;
    const { box, frame } = await look(run, target, {}, ref);
    if (frame !== undefined) await documents.shownBy(run, target, frame); // which may be closed
    const { canvas, scene, scale, seen, things } = await capture(taking, {});
    const at = seen.get(target);
    if (at === undefined)
      throw Ended.as('NOT_FOUND', `${ref} is not in the window`, { category: 'not_found' });
    const part = cropped(canvas, {
      x: (box.x + at.x) * scale,
      y: (box.y + at.y) * scale,
      width: box.width * scale,
      height: box.height * scale,
    });
    if (part === undefined) throw Ended.as('NOT_FOUND', `${ref} shows nothing`, { category: 'not_found' });
    const { left, top } = part;
    const shown = things.flatMap((one) => moved(one, left, top, part.canvas));
    const pressed = await press(part.canvas, mostPixels, mostPixels, shown);
    return answer(
      taking,
      pressed,
      { scale, left: left / scale + scene.scroll.x, top: top / scale + scene.scroll.y },
      [],
    );
  }

  async function ofPage(taking: Taking): Promise<Answer> {
    const { run } = taking;
    let { canvas, scene, scale, things } = await capture(taking, { x: 0, y: 0 });
    const screens = Math.min(Math.ceil(scene.page.height / scene.window.height), mostScreens);
    const height = Math.min(scene.page.height, screens * scene.window.height);
    const whole = new OffscreenCanvas(canvas.width, Math.round(height * scale));
    const pen = penOf(whole);
    pen.drawImage(canvas, 0, 0);
    let shown = things;
    for (let screen = 1; screen < screens; screen++) {
      if (run.signal.aborted) break;
      ({ canvas, scene, scale, things } = await capture(taking, { y: screen * scene.window.height }));
      const top = Math.round(scene.scroll.y * scale);
      pen.drawImage(canvas, 0, top);
      // What this part shows is drawn over what those before it had there.
      shown = shown.filter(({ box }) => box.y + box.height / 2 < top);
      for (const one of things) addPart(shown, moved(one, 0, -top, whole));
    }
    const cut = height < scene.page.height ? `The first ${height} of ${scene.page.height} pixels.` : '';
    const pressed = await press(whole, mostPixels, mostPixels * 4, shown);
    const left = Math.min(0, scene.scroll.x);
    return answer(taking, pressed, { scale, left, top: 0 }, [cut, await leftOut(run)]);
  }

  async function answer(
    { run, top, labels, number, whole }: Taking,
    { blob, width, height, ratio, drawn, undrawn }: Pressed,
    { scale: taken, left, top: above }: { scale: number; left: number; top: number },
    notes: readonly string[],
  ): Promise<Answer> {
    const scale = taken * ratio;
    places.remember(run, {
      number,
      whole,
      documentId: top.documentId,
      width,
      height,
      scale,
      left,
      top: above,
    });
    const size = `${width} x ${height} pixels, ${round(scale)} to one of CSS`;
    const close = undrawn > 0 ? `, ${undrawn} more too close to draw: snapshot tells them` : '';
    const said = labels ? `${size}; ${drawn} references${close}` : size;
    const all = [labels || scale !== 1 ? said : '', ...notes].filter((note) => note !== '');
    const image: Content = { type: 'image', data: await base64(blob), mimeType: blob.type };
    return { content: all.length === 0 ? [image] : [image, { type: 'text', text: all.join('\n') }] };
  }
}

const inSamePlaces = (one: readonly Box[], other: readonly Box[]): boolean =>
  JSON.stringify(one) === JSON.stringify(other);

// The places of secrets, and all that lies between where they were before and after a picture.
function swept(before: readonly Box[], after: readonly Box[]): Box[] {
  const ways = before.flatMap((box, n) => {
    const then = after[n];
    return then === undefined ? [] : [around(box, then)];
  });
  return [...before, ...after, ...ways];
}

const round = (number: number): number => Math.round(number * 1000) / 1000;

const nowhere: Box = { x: 0, y: 0, width: 0, height: 0 };

const placed = (box: Box, at: Pick<Box, 'x' | 'y'>): Box => ({ ...box, x: box.x + at.x, y: box.y + at.y });

const scaled = ({ ref, box }: Labelled, by: number): Labelled => ({
  ref,
  box: { x: box.x * by, y: box.y * by, width: box.width * by, height: box.height * by },
});

// A thing in a part of the canvas, or in a larger one, as far as it is seen there.
function moved({ ref, box }: Labelled, left: number, top: number, inside: Size): Labelled[] {
  const { width, height } = inside;
  const part = common(placed(box, { x: -left, y: -top }), { x: 0, y: 0, width, height });
  return part === undefined ? [] : [{ ref, box: part }];
}

// Adds a thing of which another part of the page may have shown the part above.
function addPart(things: Labelled[], added: readonly Labelled[]): void {
  for (const { ref, box } of added) {
    const before = things.find((one) => one.ref === ref && common(grown(one.box), grown(box)) !== undefined);
    if (before === undefined) things.push({ ref, box });
    else before.box = around(before.box, box);
  }
}

const grown = ({ x, y, width, height }: Box): Box => ({
  x: x - 1,
  y: y - 1,
  width: width + 2,
  height: height + 2,
});

function around(one: Box, other: Box): Box {
  const [x, y] = [Math.min(one.x, other.x), Math.min(one.y, other.y)];
  return {
    x,
    y,
    width: Math.max(one.x + one.width, other.x + other.width) - x,
    height: Math.max(one.y + one.height, other.y + other.height) - y,
  };
}

function common(one: Box, other: Box): Box | undefined {
  const [x, y] = [Math.max(one.x, other.x), Math.max(one.y, other.y)];
  const width = Math.min(one.x + one.width, other.x + other.width) - x;
  const height = Math.min(one.y + one.height, other.y + other.height) - y;
  return width > 0 && height > 0 ? { x, y, width, height } : undefined;
}

// The document that an element of a document shows, among those in its frames. Some have no place that could tell: then
// one of them that is closed closes all of these. Something else than a frame is open, as the page is.
function spotAt(inside: readonly Spot[], index: number): Spot | 'open' | 'closed' {
  const own = index < 0 ? undefined : inside.find((one) => one.index === index);
  if (own !== undefined) return own;
  const others = inside.filter((one) => (index < 0 ? one.index < 0 : one.index === -2));
  if (others.some(({ closed }) => closed !== undefined)) return 'closed';
  const [only] = others;
  if (only !== undefined && others.length === 1 && only.index === -1) return only;
  return index < 0 || others.length > 0 ? 'open' : 'closed';
}

let free = Promise.resolve(); // for the next picture to be taken

// As a data URL.
async function take(run: ToolRun): Promise<string> {
  const { active, windowId } = await chrome.tabs.get(run.tabId);
  const { state } = await chrome.windows.get(windowId);
  if (state === 'minimized' || (!active && !hasDebugger())) throw notDrawn(run.tabId, active);
  if (active) return takeInTurn(run.tabId);
  const drawn = await debugging(run, 'A picture of a tab that is not in front', (send) =>
    send('Page.captureScreenshot', { format: 'png' }),
  );
  if (!isText(drawn.data)) throw new Error('Chrome drew no picture');
  return `data:image/png;base64,${drawn.data}`;
}

// Chrome takes a picture of a window. It counts only if the tab was in front of that window all the time.
async function takeVisible(tabId: number): Promise<string> {
  const left = new Set<number>(); // windows where another tab came to the front, or that the tab was taken from
  const activated = ({ windowId }: { windowId: number }) => left.add(windowId);
  const detached = (_: number, { oldWindowId }: { oldWindowId: number }) => left.add(oldWindowId);
  chrome.tabs.onActivated.addListener(activated);
  chrome.tabs.onDetached.addListener(detached);
  try {
    const { active, windowId } = await chrome.tabs.get(tabId);
    if (!active) throw notDrawn(tabId, false);
    const picture = await chrome.tabs.captureVisibleTab(windowId, { format: 'png' });
    const after = await chrome.tabs.get(tabId);
    if (!after.active || after.windowId !== windowId || left.has(windowId)) throw notDrawn(tabId, false);
    return picture;
  } finally {
    chrome.tabs.onActivated.removeListener(activated);
    chrome.tabs.onDetached.removeListener(detached);
  }
}

function takeInTurn(tabId: number): Promise<string> {
  const taken = free.then(() => takeVisible(tabId));
  const pause = () => new Promise<void>((resolve) => setTimeout(resolve, betweenMs));
  free = taken.then(pause, pause);
  return taken;
}

function notDrawn(tabId: number, active: boolean): Ended {
  const why = active ? 'its window is minimized' : 'it is behind another tab of its window';
  const hint =
    'snapshot, find and read work all the same. For a picture ask the person to bring the tab to the front; the ' +
    'extension of `tabrelay up --trusted-input` takes one of a tab behind others, too.';
  return Ended.as('TAB_NOT_VISIBLE', `Chrome draws no picture of tab ${tabId}: ${why}`, {
    category: 'validation',
    hint,
  });
}

function penOf(canvas: OffscreenCanvas): OffscreenCanvasRenderingContext2D {
  const pen = canvas.getContext('2d');
  if (pen === null) throw new Error('Chrome draws no pictures');
  return pen;
}

function cropped(
  canvas: OffscreenCanvas,
  { x, y, width, height }: Box,
): { canvas: OffscreenCanvas; left: number; top: number } | undefined {
  const left = Math.max(0, Math.floor(x));
  const top = Math.max(0, Math.floor(y));
  const right = Math.min(canvas.width, Math.ceil(x + width));
  const bottom = Math.min(canvas.height, Math.ceil(y + height));
  if (right <= left || bottom <= top) return undefined;
  const part = new OffscreenCanvas(right - left, bottom - top);
  penOf(part).drawImage(canvas, -left, -top);
  return { canvas: part, left, top };
}

// Scaled down and compressed until it is small enough: as it is where that will do. References have the same size then.
async function press(
  canvas: OffscreenCanvas,
  mostWidth: number,
  mostHeight: number,
  things: readonly Labelled[],
): Promise<Pressed> {
  let drawn = 0;
  const pressed = (blob: Blob, { width, height }: Size): Pressed => ({
    blob,
    width,
    height,
    ratio: width / canvas.width,
    drawn,
    undrawn: things.length - drawn,
  });
  let scale = Math.min(1, mostWidth / canvas.width, mostHeight / canvas.height);
  for (;;) {
    const small = new OffscreenCanvas(
      Math.max(1, Math.round(canvas.width * scale)),
      Math.max(1, Math.round(canvas.height * scale)),
    );
    const pen = penOf(small);
    pen.drawImage(canvas, 0, 0, small.width, small.height);
    drawn = drawLabels(
      pen,
      small,
      things.map((one) => scaled(one, small.width / canvas.width)),
    );
    const whole = await small.convertToBlob({ type: 'image/png' });
    if (whole.size <= mostBytes / 2) return pressed(whole, small);
    for (const quality of [0.8, 0.6, 0.4]) {
      const blob = await small.convertToBlob({ type: 'image/jpeg', quality });
      if (blob.size <= mostBytes) return pressed(blob, small);
    }
    scale *= 0.75;
  }
}

async function base64(blob: Blob): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let binary = '';
  for (let i = 0; i < bytes.length; i += 8192) binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
  return btoa(binary);
}
