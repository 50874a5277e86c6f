// Pictures of pages. Chrome draws the tab in front of each window only; without the debugger there is none of another.

import { isFlag, isNumber, isText, listOf, optional, shape } from '../../shared/guards.ts';
import { DocumentCover } from '../../worker/calls/cover.ts';
import type { Documents, Spot } from '../../worker/calls/documents.ts';
import { type Content, Ended, type ToolHandler, type ToolRun } from '../../worker/calls/tool-runner.ts';
import type { Bridge } from '../../worker/documents/bridges.ts';
import { sayClosed } from './looking.ts';

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

/** One picture, or several that become one. */
interface Taking {
  run: ToolRun;
  top: Bridge;
  windowId: number;
  hidden: DocumentCover;
}

export function picturing(documents: Documents): ToolHandler {
  return async (run) => {
    const { ref, full } = run.args;
    const tab = await chrome.tabs.get(run.tabId);
    const { state } = await chrome.windows.get(tab.windowId);
    if (!tab.active || state === 'minimized') throw notDrawn(run.tabId, tab.active);
    const top = await run.top();
    const target = await documents.of(run, isText(ref) ? ref : undefined);
    const first = await look(run, top, {});
    const taking = { run, top, windowId: tab.windowId, hidden: new DocumentCover(run, documents) };
    try {
      if (isText(ref)) return await ofElement(taking, target, ref);
      if (full === true) return await ofPage(taking);
      const shot = await capture(taking, {});
      return answer(await pressed(shot.canvas, mostPixels, mostPixels), await leftOut(run));
    } finally {
      await taking.hidden.uncover();
      await look(run, top, { x: first.scroll.x, y: first.scroll.y }).catch(() => {});
    }
  };

  // What is black, and why.
  async function leftOut(run: ToolRun): Promise<string> {
    const spots = await documents.shownSpots(run);
    return sayClosed(spots.flatMap(({ closed }) => closed ?? [])).join('\n');
  }

  async function look(run: ToolRun, bridge: Bridge, scrollTo: Partial<Box>, ref?: string) {
    const answered = await run.part(bridge, 'screenshot', {
      ...(ref !== undefined && { ref }),
      _: { scrollTo },
    });
    if (!isScene(answered)) throw new Error('The page returned no layout');
    return answered;
  }

  // Where the window of a document is in that of its tab, and what must not be seen in it and in its frames.
  async function secrets(
    taking: Taking,
    bridge: Bridge,
    at: Box,
    seen: Map<Bridge, Box>,
    depth = 0,
  ): Promise<Box[]> {
    const { run, hidden } = taking;
    seen.set(bridge, at);
    const { masks, frames } = await look(run, bridge, {});
    const moved = masks.map((box) => placed(box, at));
    if (frames.length === 0 || depth > 4) return moved;
    const spots = (await documents.allSpots(run)).filter((one) => one.parentFrameId === bridge.frameId);
    for (const { index, box, outer, warped } of frames) {
      const spot = spotAt(spots, index);
      if (spot === 'open' || (spot !== 'closed' && hidden.has(spot.documentId))) continue;
      const inner = spot === 'closed' ? undefined : await documents.inFrame(run, spot).catch(() => undefined);
      // What nobody can, or may, look into is not shown.
      const inside = inner && (await secrets(taking, inner, placed(box, at), seen, depth + 1));
      if (inside === undefined || (warped && inside.length > 0)) moved.push(placed(outer, at));
      else moved.push(...inside);
    }
    return moved;
  }

  async function capture(taking: Taking, scrollTo: Partial<Box>) {
    const { run, top, windowId, hidden } = taking;
    const scene = await look(run, top, scrollTo);
    const taken = await hidden.captureCovered(async () => {
      const seen = new Map<Bridge, Box>();
      const masks = await secrets(taking, top, { x: 0, y: 0, width: 0, height: 0 }, seen);
      return { seen, masks, picture: await takeVisible(windowId) };
    });
    if (taken === undefined)
      throw Ended.before(
        'TAB_CHANGED',
        'Frames of the page kept going to other pages, so no picture was taken',
      );
    const { seen, masks, picture } = taken;
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
    return { canvas, scene, scale, seen };
  }

  async function ofElement(taking: Taking, target: Bridge, ref: string) {
    const { run } = taking;
    const { box, frame } = await look(run, target, {}, ref);
    if (frame !== undefined) await documents.shownBy(run, target, frame); // which may be closed
    const { canvas, scale, seen } = await capture(taking, {});
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
    return answer(await pressed(part, mostPixels, mostPixels), '');
  }

  async function ofPage(taking: Taking) {
    const { run } = taking;
    let { canvas, scene, scale } = await capture(taking, { x: 0, y: 0 });
    const screens = Math.min(Math.ceil(scene.page.height / scene.window.height), mostScreens);
    const height = Math.min(scene.page.height, screens * scene.window.height);
    const whole = new OffscreenCanvas(canvas.width, Math.round(height * scale));
    const pen = penOf(whole);
    pen.drawImage(canvas, 0, 0);
    for (let screen = 1; screen < screens; screen++) {
      if (run.signal.aborted) break;
      ({ canvas, scene, scale } = await capture(taking, { y: screen * scene.window.height }));
      pen.drawImage(canvas, 0, Math.round(scene.scroll.y * scale));
    }
    const cut = height < scene.page.height ? `The first ${height} of ${scene.page.height} pixels.` : '';
    const notes = [cut, await leftOut(run)].filter((note) => note !== '');
    return answer(await pressed(whole, mostPixels, mostPixels * 4), notes.join('\n'));
  }
}

const placed = (box: Box, at: Box): Box => ({ ...box, x: box.x + at.x, y: box.y + at.y });

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

function takeVisible(windowId: number): Promise<string> {
  const taken = free.then(() => chrome.tabs.captureVisibleTab(windowId, { format: 'png' }));
  const pause = () => new Promise<void>((resolve) => setTimeout(resolve, betweenMs));
  free = taken.then(pause, pause);
  return taken;
}

function notDrawn(tabId: number, active: boolean): Ended {
  const why = active ? 'its window is minimized' : 'it is behind another tab of its window';
  const hint =
    'snapshot, find and read work all the same. For a picture ask the person to bring the tab to the front.';
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

function cropped(canvas: OffscreenCanvas, { x, y, width, height }: Box): OffscreenCanvas | undefined {
  const left = Math.max(0, Math.floor(x));
  const top = Math.max(0, Math.floor(y));
  const right = Math.min(canvas.width, Math.ceil(x + width));
  const bottom = Math.min(canvas.height, Math.ceil(y + height));
  if (right <= left || bottom <= top) return undefined;
  const part = new OffscreenCanvas(right - left, bottom - top);
  penOf(part).drawImage(canvas, -left, -top);
  return part;
}

// Scaled down and compressed until it is small enough: as it is where that will do.
async function pressed(canvas: OffscreenCanvas, mostWidth: number, mostHeight: number): Promise<Blob> {
  let scale = Math.min(1, mostWidth / canvas.width, mostHeight / canvas.height);
  for (;;) {
    const scaled = new OffscreenCanvas(
      Math.max(1, Math.round(canvas.width * scale)),
      Math.max(1, Math.round(canvas.height * scale)),
    );
    penOf(scaled).drawImage(canvas, 0, 0, scaled.width, scaled.height);
    const whole = await scaled.convertToBlob({ type: 'image/png' });
    if (whole.size <= mostBytes / 2) return whole;
    for (const quality of [0.8, 0.6, 0.4]) {
      const blob = await scaled.convertToBlob({ type: 'image/jpeg', quality });
      if (blob.size <= mostBytes) return blob;
    }
    scale *= 0.75;
  }
}

async function answer(blob: Blob, note: string): Promise<{ content: Content[] }> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let binary = '';
  for (let i = 0; i < bytes.length; i += 8192) binary += String.fromCharCode(...bytes.subarray(i, i + 8192));
  const image: Content = { type: 'image', data: btoa(binary), mimeType: blob.type };
  return { content: note === '' ? [image] : [image, { type: 'text', text: note }] };
}
