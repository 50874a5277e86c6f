// What was read of elements while one walk goes over the page. Nothing in the page changes meanwhile, so that nothing
// has to be asked of Chrome twice.

/** The places that one can scroll to, as they are where nothing is scrolled. */
export interface Reach {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

/** What is known of one element. All of them have the same fields from the beginning, which engines read faster. */
export class Known {
  kind: Kind | undefined = undefined;
  tag: string | undefined = undefined;
  attributes: readonly string[] | undefined = undefined; // their names
  role: string | undefined = undefined;
  holder: Element | null | undefined = undefined;
  labels: readonly Element[] | undefined = undefined;
  disabled: boolean | undefined = undefined;
  flowing: boolean | undefined = undefined;
  style: CSSStyleDeclaration | undefined = undefined;
  display: number | undefined = undefined;
  seen: boolean | undefined = undefined;
  inSight: boolean | undefined = undefined;
  standsOut: boolean | undefined = undefined;
  blank: boolean | undefined = undefined;
  board: boolean | undefined = undefined; // of a table or drawing, whether its parts are fields
  parts: readonly Element[] | undefined = undefined; // things in a thing
  cut: boolean | undefined = undefined;
  holdsKeyField: boolean | undefined = undefined;
  reach: Reach | undefined = undefined; // of the page
  root: ShadowRoot | null | undefined = undefined;
  defaultButton: Element | null | undefined = undefined; // of a form
  content: readonly (Element | string)[] | undefined = undefined;
  name: string | undefined = undefined;
  contentName: string | undefined = undefined;
  ownWords: string | undefined = undefined;
}

/** How what stands in an element may be cut off, and what it is cut off by. */
export interface Cutting {
  small: boolean; // where it is small
  whole: boolean; // nothing of it is drawn
  position: string;
}

/** What is known of all elements that are styled alike. */
export class Kind {
  cursor: string | undefined = undefined;
  overflow: string | undefined = undefined;
  inline: boolean | undefined = undefined;
  joins: boolean | undefined = undefined; // its words go on those before it
  apart: boolean | undefined = undefined;
  plain: boolean | undefined = undefined; // nothing moves it out of sight or cuts it off
  flowing: boolean | undefined = undefined; // nothing moves it away from what stands around it
  cutting: Cutting | undefined = undefined;
  added: readonly [before: string, after: string] | undefined = undefined;
  replacing: string | null | undefined = undefined; // what a picture in its place is called
  rootless = 0; // how many had no closed shadow root
  readonly inside = new Map<string, Kind>();
}

interface Moment {
  of: Map<Element, Known>;
  left: number; // how far the page is scrolled
  top: number;
  page: Element; // the elements that are the page itself
  body: Element | null;
  last: Element | undefined; // asked about, of which is known:
  about: Known;
  roots: ShadowRoot[]; // whose content was read
  focused: readonly Element[] | undefined;
}

let moment: Moment | undefined;

/** Runs what only reads; within it, what was read once is known. */
export function atOnce<T>(read: () => T): T {
  if (moment !== undefined) return read();
  const { documentElement: page, body } = document;
  moment = {
    of: new Map(),
    left: scrollX,
    top: scrollY,
    page,
    body,
    last: undefined,
    about: new Known(),
    roots: [],
    focused: undefined,
  };
  try {
    return read();
  } finally {
    moment = undefined;
  }
}

/** Where to keep what is read of an element. */
export const known = (element: Element): Known => remembered(element) ?? new Known();

/** What is known of an element; undefined where nothing is remembered. */
export function remembered(element: Element): Known | undefined {
  if (moment === undefined) return undefined;
  if (moment.last === element) return moment.about;
  let found = moment.of.get(element);
  if (found === undefined) {
    found = new Known();
    moment.of.set(element, found);
  }
  moment.last = element;
  moment.about = found;
  return found;
}

/** Whether it is the page itself. */
export function isPage(element: Element): boolean {
  const { page, body } = moment ?? { page: document.documentElement, body: document.body };
  return element === page || element === body;
}

/** The content of a shadow root was read: what changes in it can change what is told. */
export const readInto = (root: ShadowRoot): unknown => moment?.roots.push(root);

/** The element that has the focus, and the hosts in whose shadow it stands. */
export function focusedAtOnce(read: () => readonly Element[]): readonly Element[] {
  if (moment === undefined) return read();
  moment.focused ??= read();
  return moment.focused;
}

/** The shadow roots whose content was read. */
export const rootsRead = (): readonly ShadowRoot[] => moment?.roots ?? [];

/** How far the page is scrolled. */
export const scrolledTo = (): { left: number; top: number } => moment ?? { left: scrollX, top: scrollY };
