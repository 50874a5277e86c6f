// One document's part of a picture: where things are, and what must not be seen in it.
import { elementAt } from './act/dom.ts';
import { type Frame, frameIndex } from './looking.ts';
import { type Numbered, numbered } from './numbered.ts';
import { type Box, changedSince, elementsIn, isAsPictured, type Picture, recordPicture } from './pictured.ts';
import { nextNumber } from './references.ts';
import { sensitivity } from './secrets.ts';
import { turnOf } from './turned.ts';

export interface Scene {
  box: Box; // what is asked for, in the window
  window: { width: number; height: number };
  page: { width: number; height: number };
  scroll: { x: number; y: number };
  masks: Box[];
  frames: FrameBox[];
  frame?: number; // index of the frame that is asked for
  references: number;
  numbered?: Numbered[];
}

interface FrameBox extends Pick<Frame, 'index'> {
  box: Box;
  outer: Box;
  warped: boolean;
}

/** What is to be known besides where everything is. */
export interface Wanted {
  scrollTo?: Partial<Box> | undefined; // before
  labels?: boolean | undefined;
  picture?: Picture | undefined; // that is taken now
}

/** What the worker is told of a place in a picture. */
interface AtPlace {
  changed?: ReturnType<typeof changedSince>;
  frame?: FrameBox; // whose document has what is there
  x: number; // in the window
  y: number;
}

declare global {
  /** What is at a place of the last picture of a viewer; the worker asks it before an act, which it is no part of. */
  var tabrelayAtPlace: typeof atPlace | undefined;
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
  viewer: string,
  { scrollTo, labels = false, picture }: Wanted,
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
  const labelled = labels ? numbered(viewer) : undefined;
  if (picture !== undefined) {
    recordPicture(viewer, picture);
    globalThis.tabrelayAtPlace = atPlace;
  }
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
    frames: all(frames).map(frameBox),
    ...(element?.matches('iframe, frame, object, embed') === true && { frame: frameIndex(element) }),
    ...(labelled !== undefined && { numbered: labelled }),
    references: nextNumber(),
  };
}

const frames = 'iframe, frame, object, embed, fencedframe';

const frameBox = (frame: Element): FrameBox => ({
  index: frameIndex(frame),
  box: boxOf(frame, true),
  outer: boxOf(frame),
  warped: isWarped(frame),
});

// Of a picture of the whole page, the place is one in the page, which is scrolled to.
function atPlace(viewer: string, picture: Picture, x: number, y: number): AtPlace {
  const changed = changedSince(viewer, picture);
  if (changed !== undefined) return { changed, x, y };
  const inWindow = () => (picture.whole ? { x: x - scrollX, y: y - scrollY } : { x, y });
  if (picture.whole && !isWithin({ ...inWindow(), width: 1, height: 1 }))
    scrollTo({ left: x - innerWidth / 2, top: y - innerHeight / 2, behavior: 'instant' });
  const place = inWindow();
  const hit = elementAt(document, place.x, place.y);
  if (hit?.matches(frames) !== true) return place;
  return { ...place, frame: frameBox(hit), ...(!isAsPictured(viewer, hit) && { changed: 'view' }) };
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

const all = (selector: string): Element[] =>
  Array.from(elementsIn(document)).filter((one) => one.matches(selector));
