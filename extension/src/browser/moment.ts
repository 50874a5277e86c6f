// What was read of elements while one walk goes over the page. Nothing in the page changes meanwhile, so that nothing
// has to be asked of Chrome twice.

/** What is known of one element. */
export interface Known {
  kind?: Kind;
  style?: CSSStyleDeclaration;
  display?: number;
  seen?: boolean;
  inSight?: boolean;
  cut?: boolean;
  root?: ShadowRoot | null;
  name?: string;
  content?: string;
}

/** How what stands in an element may be cut off, and what it is cut off by. */
export interface Cutting {
  small: boolean; // where it is small
  whole: boolean; // nothing of it is drawn
  position: string;
}

/** What is known of all elements that are styled alike. */
export interface Kind {
  cursor?: string;
  overflow?: string;
  inline?: boolean;
  plain?: boolean; // nothing moves it out of sight or cuts it off
  cutting?: Cutting;
  added?: readonly [before: string, after: string];
  rootless: number; // how many had no closed shadow root
  inside: Map<string, Kind>;
}

interface Moment {
  of: Map<Element, Known>;
  left: number; // how far the page is scrolled
  top: number;
}

let moment: Moment | undefined;

/** Runs what only reads; within it, what was read once is known. */
export function atOnce<T>(read: () => T): T {
  if (moment !== undefined) return read();
  moment = { of: new Map(), left: scrollX, top: scrollY };
  try {
    return read();
  } finally {
    moment = undefined;
  }
}

/** Where to keep what is read of an element. */
export function known(element: Element): Known {
  if (moment === undefined) return {};
  let found = moment.of.get(element);
  if (found === undefined) {
    found = {};
    moment.of.set(element, found);
  }
  return found;
}

/** How far the page is scrolled. */
export const scrolledTo = (): { left: number; top: number } => moment ?? { left: scrollX, top: scrollY };
