// One document's part of a picture: where things are, and what must not be seen in it.
import { type Frame, frameIndex } from './looking.ts';
import { nextNumber } from './references.ts';
import { sensitivity } from './secrets.ts';
import { turnOf } from './turned.ts';

/** A rectangle in CSS pixels of the document's window. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Scene {
  box: Box; // what is asked for, in the window
  window: { width: number; height: number };
  page: { width: number; height: number };
  scroll: { x: number; y: number };
  masks: Box[];
  frames: (Pick<Frame, 'index'> & { box: Box; outer: Box; warped: boolean })[];
  frame?: number; // index of the frame that is asked for
  references: number;
}

const boxOf = (element: Element, inner = false): Box => {
  const { x, y, width, height } = element.getBoundingClientRect();
  if (!inner || !(element instanceof HTMLElement)) return { x, y, width, height };
  return {
    x: x + element.clientLeft,
    y: y + element.clientTop,
    width: element.clientWidth,
    height: element.clientHeight,
  };
};

/** Shows an element, or a place of the page, and says where everything is. */
export async function scene(
  element: Element | undefined,
  scrollTo: Partial<Box> | undefined,
): Promise<Scene> {
  if (scrollTo !== undefined)
    scrollBy({
      left: (scrollTo.x ?? scrollX) - scrollX,
      top: (scrollTo.y ?? scrollY) - scrollY,
      behavior: 'instant',
    });
  if (element !== undefined && !isWithin(boxOf(element)))
    element.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
  await drawn();
  const root = document.documentElement;
  const window_ = { width: innerWidth, height: innerHeight }; // with scrollbars: Chrome's picture has them
  return {
    box: element === undefined ? { x: 0, y: 0, ...window_ } : boxOf(element),
    window: window_,
    page: { width: root.scrollWidth, height: root.scrollHeight },
    scroll: { x: scrollX, y: scrollY },
    masks: all('input, textarea')
      .filter((field) => sensitivity(field) !== undefined)
      .map((field) => boxOf(field)),
    frames: all('iframe, frame, object, embed, fencedframe').map((frame) => ({
      index: frameIndex(frame),
      box: boxOf(frame, true),
      outer: boxOf(frame),
      warped: isWarped(frame),
    })),
    ...(element?.matches('iframe, frame, object, embed') === true && { frame: frameIndex(element) }),
    references: nextNumber(),
  };
}

// Whether what a frame shows is drawn in another form or size than it has: then its own places are none of the window's.
const isWarped = (frame: Element): boolean => turnOf(frame)?.isIdentity !== true;

const isWithin = ({ x, y, width, height }: Box): boolean =>
  x >= 0 && y >= 0 && x + width <= innerWidth && y + height <= innerHeight;

// Until what was scrolled is on the screen.
const drawn = (): Promise<void> =>
  new Promise((resolve) => {
    setTimeout(resolve, 300); // a page that is not drawn
    requestAnimationFrame(() => requestAnimationFrame(() => resolve()));
  });

// In shadow roots, too.
function all(selector: string, root: Document | ShadowRoot = document): Element[] {
  const found = Array.from(root.querySelectorAll(selector));
  for (const host of Array.from(root.querySelectorAll('*'))) {
    const inner =
      host.shadowRoot ??
      (host instanceof HTMLElement ? globalThis.tabrelayBridge?.shadowRoot?.(host) : undefined);
    if (inner) found.push(...all(selector, inner));
  }
  return found;
}
