// What was where when a picture was taken. A place in the picture means something only as long as that is so.

/** A picture as the worker knows it. */
export interface Picture {
  number: number;
  whole: boolean; // its places are of the page, which was scrolled for it
}

/** A rectangle in CSS pixels, of the document's window unless it is said to be of the page. */
export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

interface Pictured extends Picture {
  address: string;
  window: string;
  scroll: { x: number; y: number };
  boxes: WeakMap<Element, Box>; // of the page where whole
}

declare global {
  /** The last picture of each viewer, kept beside the code. */
  var tabrelayPictures: Map<string, Pictured> | undefined;
}

const mostViewers = 12;
const moved: Box = { x: Number.NaN, y: Number.NaN, width: 0, height: 0 }; // equal to none

const windowNow = (): string => `${innerWidth} x ${innerHeight}, ${devicePixelRatio}`;

/** Remembers where everything is; of a picture in parts also where it was in those before. */
export function recordPicture(viewer: string, { number, whole }: Picture): void {
  const kept = globalThis.tabrelayPictures ?? new Map<string, Pictured>();
  globalThis.tabrelayPictures = kept;
  const before = kept.get(viewer);
  const boxes = before?.number === number ? before.boxes : new WeakMap<Element, Box>();
  for (const element of elementsIn(document)) {
    const now = boxIn(element, whole);
    const then = boxes.get(element) ?? now;
    boxes.set(element, isSame(then, now) ? now : moved);
  }
  kept.delete(viewer);
  const scroll = { x: scrollX, y: scrollY };
  kept.set(viewer, { number, whole, address: location.href, window: windowNow(), scroll, boxes });
  for (const oldest of kept.keys()) {
    if (kept.size <= mostViewers) break;
    kept.delete(oldest);
  }
}

function boxIn(element: Element, inPage: boolean): Box {
  const { x, y, width, height } = element.getBoundingClientRect();
  return inPage ? { x: x + scrollX, y: y + scrollY, width, height } : { x, y, width, height };
}

const isSame = (one: Box, other: Box): boolean =>
  Math.abs(one.x - other.x) < 1 &&
  Math.abs(one.y - other.y) < 1 &&
  one.width === other.width &&
  one.height === other.height;

/** What became of the page since a picture of it; undefined: nothing. */
export function changedSince(viewer: string, { number, whole }: Picture): 'document' | 'view' | undefined {
  const then = globalThis.tabrelayPictures?.get(viewer);
  if (then?.number !== number || then.address !== location.href) return 'document';
  if (then.window !== windowNow()) return 'view';
  return whole || (then.scroll.x === scrollX && then.scroll.y === scrollY) ? undefined : 'view';
}

/** Whether an element is where the picture shows it. */
export function isAsPictured(viewer: string, element: Element): boolean {
  const then = globalThis.tabrelayPictures?.get(viewer);
  const place = then?.boxes.get(element);
  return then !== undefined && place !== undefined && isSame(place, boxIn(element, then.whole));
}

/** The elements of a document, also in shadow roots. */
export function* elementsIn(root: Document | ShadowRoot): Generator<Element> {
  for (const element of root.querySelectorAll('*')) {
    yield element;
    const inner =
      element.shadowRoot ??
      (element instanceof HTMLElement ? globalThis.tabrelayBridge?.shadowRoot?.(element) : undefined);
    if (inner) yield* elementsIn(inner);
  }
}
