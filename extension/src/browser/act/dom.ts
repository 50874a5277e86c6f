// What acting needs to know of elements besides what ../dom.ts says of them.
import { attribute, closest, content, holder, pictureOf, shadowRoot, tag } from '../dom.ts';

export { attribute, connected as isConnected, matches as fits, pictureOf, tag as tagOf } from '../dom.ts';

export const nearest = closest;
export const shadowOf = (element: Element): ShadowRoot | null => shadowRoot(element) ?? null;
/** The element that a node is drawn in: slots and hosts of shadow roots included. */
export const parentOf = (node: Node): Element | null => holder(node) ?? null;

const { getBoundingClientRect, getClientRects } = Element.prototype;

/** Where an element is drawn; of one without a box of its own, what stands in it. */
export function boxOf(element: Element): DOMRect {
  if (tag(element) === 'area') return areaBox(element);
  const box = getBoundingClientRect.call(element);
  return box.width === 0 && box.height === 0 && isBoxless(element)
    ? contentOf(element).getBoundingClientRect()
    : box;
}

export function boxesOf(element: Element): DOMRect[] {
  if (tag(element) === 'area') return [areaBox(element)];
  const boxes = Array.from(getClientRects.call(element));
  return boxes.length === 0 && isBoxless(element) ? Array.from(contentOf(element).getClientRects()) : boxes;
}

/** What an element says it controls, such as the list that it opens. */
export function controlledBy(element: Element): Element[] {
  const scopes = [element.getRootNode(), documentFor(element)];
  const ids = ['aria-controls', 'aria-owns']
    .flatMap((name) => (attribute(element, name) ?? '').split(/\s+/))
    .filter(Boolean);
  const found = ids.flatMap((id) =>
    scopes.map((one) =>
      one instanceof Document || one instanceof ShadowRoot ? one.getElementById(id) : null,
    ),
  );
  return Array.from(new Set(found)).filter((one) => one !== null);
}

// Around the shape of an area, which Chrome counts from the picture's outer edge.
function areaBox(area: Element): DOMRect {
  const picture = pictureOf(area);
  if (picture === undefined) return new DOMRect();
  const box = getBoundingClientRect.call(picture);
  const numbers = (attribute(area, 'coords') ?? '').split(/[\s,;]+/).map(Number);
  const [x = 0, y = 0, r = 0] = numbers;
  const all = numbers.length === 3 ? [x - r, y - r, x + r, y + r] : numbers;
  if (all.length < 4 || all.some(Number.isNaN)) return box;
  const [xs, ys] = [all.filter((_, i) => i % 2 === 0), all.filter((_, i) => i % 2 === 1)];
  const [left, top] = [Math.min(...xs), Math.min(...ys)];
  return new DOMRect(box.left + left, box.top + top, Math.max(...xs) - left, Math.max(...ys) - top);
}

/** Whether only what stands in an element is drawn (display: contents). */
export const isBoxless = (element: Element): boolean =>
  windowOf(element).getComputedStyle(element).display === 'contents';

function contentOf(element: Element): Range {
  const range = documentFor(element).createRange();
  range.selectNodeContents(element);
  return range;
}

/** The elements that are displayed in an element, also in shadow roots and slots. */
export function displayedIn(outer: Element): Element[] {
  const found: Element[] = [];
  const below = (element: Element) => {
    for (const node of content(element))
      if (isElement(node)) {
        found.push(node);
        below(node);
      }
  };
  below(outer);
  return found;
}

/** The elements of a document that fit, also in the shadow roots of its custom elements. */
export function everywhere(root: Document | ShadowRoot, selector: string): Element[] {
  const found = Array.from(root.querySelectorAll(selector));
  for (const one of root.querySelectorAll('*')) {
    if (!tag(one).includes('-')) continue;
    const inside = shadowOf(one);
    if (inside !== null) found.push(...everywhere(inside, selector));
  }
  return found;
}

let sent = 0;
let heed: ((target: EventTarget, type: string) => void) | undefined;

/** Has somebody told of each event before it is sent; undefined: nobody. */
export function heedEvents(by: typeof heed): void {
  heed = by;
}

/** How many events the page got from here. What fails after that was not without consequence. */
export const eventsSent = (): number => sent;

/** Sends an event; false when the page prevented what follows it. */
export function send(target: EventTarget, event: Event): boolean {
  sent++;
  heed?.(target, event.type);
  return EventTarget.prototype.dispatchEvent.call(target, event);
}

/** The window of an element's document: frames of the same origin have their own classes. */
export function windowOf(node: Node): Window & typeof globalThis {
  return documentFor(node).defaultView ?? window;
}

export const documentFor = (node: Node): Document => node.ownerDocument ?? document;

/** Whether inner is outer or is drawn inside it. */
export function within(inner: Element, outer: Element): boolean {
  for (let at: Element | null = inner; at !== null; at = parentOf(at)) if (at === outer) return true;
  return false;
}

/** An element and what it is drawn in, from inside out. */
export function* upwards(element: Element): Generator<Element> {
  for (let at: Element | null = element; at !== null; at = parentOf(at)) yield at;
}

export const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

export const isElement = (value: unknown): value is Element =>
  isObject(value) && Reflect.get(value, 'nodeType') === 1;

type Classes = 'HTMLInputElement' | 'HTMLTextAreaElement' | 'HTMLSelectElement' | 'HTMLElement';

const isOf = (element: Element, name: Classes): boolean => element instanceof windowOf(element)[name];
export const isInput = (element: Element): element is HTMLInputElement => isOf(element, 'HTMLInputElement');
export const isTextArea = (element: Element): element is HTMLTextAreaElement =>
  isOf(element, 'HTMLTextAreaElement');
export const isSelect = (element: Element): element is HTMLSelectElement =>
  isOf(element, 'HTMLSelectElement');
export const isHtml = (element: Element): element is HTMLElement => isOf(element, 'HTMLElement');

const textTypes = ['text', 'search', 'url', 'tel', 'email', 'password', 'number'];

/** Whether one types into it, character by character. */
export const isTextField = (element: Element): element is HTMLInputElement | HTMLTextAreaElement =>
  isTextArea(element) || (isInput(element) && textTypes.includes(element.type));

/** The outermost element that can be edited around an element, if any. */
export function editableOf(element: Element): HTMLElement | undefined {
  let host: HTMLElement | undefined;
  for (const at of upwards(element)) {
    if (!isHtml(at) || !at.isContentEditable) break;
    host = at;
  }
  return host;
}

/** The role that an element was given, or that HTML gives it, as far as acting has to know. */
export function roleOf(element: Element): string {
  const given = Element.prototype.getAttribute.call(element, 'role')?.trim().split(/\s+/)[0]?.toLowerCase();
  return given ?? '';
}

/** The element that has the focus, inside shadow roots too. */
export function focusedIn(owner: Document): Element | null {
  let at = owner.activeElement;
  while (at !== null) {
    const inner = shadowOf(at)?.activeElement ?? null;
    if (inner === null) return at;
    at = inner;
  }
  return at;
}

/** What lies at a point of a document's view, inside shadow roots too. */
export function elementAt(owner: Document, x: number, y: number): Element | null {
  let root: DocumentOrShadowRoot = owner;
  let found: Element | null = null;
  while (true) {
    const hit: Element | null = root.elementFromPoint(x, y);
    if (hit === null || hit === found) return found ?? hit;
    found = hit;
    const inside = shadowOf(hit);
    if (inside === null) return hit;
    root = inside;
  }
}

/** What a person can see of an element's text, in one line. */
export const plain = (text: string): string => text.replace(/\s+/g, ' ').trim();
