// What the browser says of an element. A page can name the fields of a form so that they stand in for its members
// (`<input name="localName">`), so members are read as the prototypes of this world define them, which no page reaches.
import { type Kind, known, readInto } from './moment.ts';

type Getter = (this: unknown) => unknown;

// Each is called where it is known which one it is, so that engines can make the call a short one.
function getter(prototype: object, name: string): Getter {
  const found = Object.getOwnPropertyDescriptor(prototype, name)?.get;
  return found ?? (() => undefined); // where there is no page: while a plugin is built
}

const readName = getter(Element.prototype, 'localName');
const readParent = getter(Node.prototype, 'parentNode');
const readFirst = getter(Node.prototype, 'firstChild');
const readNext = getter(Node.prototype, 'nextSibling');
const readRoot = getter(Element.prototype, 'shadowRoot');
const readSlot = getter(Element.prototype, 'assignedSlot');
const readTextSlot = getter(Text.prototype, 'assignedSlot');
const readConnected = getter(Node.prototype, 'isConnected');
const readTabIndex = getter(HTMLElement.prototype, 'tabIndex');
const readType = getter(Node.prototype, 'nodeType');
const readText = getter(Node.prototype, 'textContent');

/** Which of the two kinds of nodes it is that are displayed. */
export const isElement = (node: Node): node is Element => readType.call(node) === 1;
export const isText = (node: Node): boolean => readType.call(node) === 3;

/** The name of its tag, in lower case. */
export function tag(element: Element): string {
  const name = readName.call(element);
  return typeof name === 'string' ? name.toLowerCase() : '';
}

export const attribute = (element: Element, name: string): string | null =>
  Element.prototype.getAttribute.call(element, name);

/** Whether it has any attribute. */
export const hasSome = (element: Element): boolean => Element.prototype.hasAttributes.call(element);

export const has = (element: Element, name: string): boolean =>
  Element.prototype.hasAttribute.call(element, name);

export const matches = (element: Element, selector: string): boolean =>
  Element.prototype.matches.call(element, selector);

export const closest = (element: Element, selector: string): Element | null =>
  Element.prototype.closest.call(element, selector);

export const within = (element: Element, selector: string): Element[] =>
  Array.from(Element.prototype.querySelectorAll.call(element, selector));

export const connected = (node: Node): boolean => readConnected.call(node) === true;

export function textOf(node: Node): string {
  const text = readText.call(node);
  return typeof text === 'string' ? text : '';
}

export function tabIndex(element: Element): number {
  const index = element instanceof HTMLElement ? readTabIndex.call(element) : -1;
  return typeof index === 'number' ? index : -1;
}

/** Its shadow root, also a closed one. */
export function shadowRoot(element: Element): ShadowRoot | undefined {
  const open = readRoot.call(element);
  if (open instanceof ShadowRoot) return open;
  const about = known(element);
  if (about.root === undefined)
    about.root =
      element instanceof HTMLElement && mayHaveShadow(element) ? closedRoot(element, about.kind) : null;
  return about.root ?? undefined;
}

const asked = 3;

// Chrome takes long to answer this. Where elements of a kind have none, those have none that show what stands in them.
function closedRoot(element: HTMLElement, kind: Kind | undefined): ShadowRoot | null {
  if (kind !== undefined && kind.rootless >= asked && readFirst.call(element) !== null && !isCustom(element))
    return null;
  const root = globalThis.tabrelayBridge?.shadowRoot?.(element) ?? null;
  if (root === null && kind !== undefined) kind.rootless++;
  return root;
}

// The elements that can have one: https://dom.spec.whatwg.org/#dom-element-attachshadow
const hosts = new Set(
  'article aside blockquote body div footer h1 h2 h3 h4 h5 h6 header main nav p section span'.split(' '),
);
const mayHaveShadow = (element: HTMLElement): boolean => {
  const name = tag(element);
  return hosts.has(name) || name.includes('-');
};
const isCustom = (element: HTMLElement): boolean => tag(element).includes('-');

/** The nodes that are displayed in an element: those of its shadow root, and what is put into a slot. */
export function content(element: Element): readonly Node[] {
  const about = known(element);
  about.content ??= readContent(element);
  return about.content;
}

function readContent(element: Element): readonly Node[] {
  const root = shadowRoot(element);
  if (root !== undefined) {
    readInto(root);
    return childNodes(root);
  }
  if (element instanceof HTMLSlotElement) {
    const given = element.assignedNodes();
    if (given.length > 0) return given;
  }
  return childNodes(element);
}

// From one to the next is the way that costs Chrome least.
function childNodes(node: Node): readonly Node[] {
  const all: Node[] = [];
  for (let at = readFirst.call(node); at instanceof Node; at = readNext.call(at)) all.push(at);
  return all;
}

/** The element that a node is displayed in: of a slotted one, the slot. */
export function holder(node: Node): Element | undefined {
  if (node instanceof Element || node instanceof Text) {
    const slot = node instanceof Element ? readSlot.call(node) : readTextSlot.call(node);
    if (slot instanceof Element) return slot;
  }
  const parent = readParent.call(node);
  if (parent instanceof ShadowRoot) return parent.host;
  return parent instanceof Element ? parent : undefined;
}

/** The scope in which ids are looked up: its document or shadow root. */
export function byId(element: Element, id: string): Element | undefined {
  const scope = Node.prototype.getRootNode.call(element);
  if (scope instanceof Document) return Document.prototype.getElementById.call(scope, id) ?? undefined;
  return scope instanceof ShadowRoot ? (scope.getElementById(id) ?? undefined) : undefined;
}

const unseen = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Default_Ignorable_Code_Point}]/gu;
const plain = /^[\x20-\x7e\u00a1-\u00ac\u00ae-\u02ff\n]*$/;

/** A text without what nobody sees; line breaks stay. Joiners stay behind characters beyond Latin. */
export function legible(text: string): string {
  if (plain.test(text)) return text;
  return text.replaceAll(/\r\n?|[\u2028\u2029]/g, '\n').replaceAll(unseen, (character, at: number) => {
    if (character === '\n') return character;
    if (character === '\t') return ' ';
    const before = at > 0 ? text.charCodeAt(at - 1) : 0;
    return '\u200c\u200d\ufe0e\ufe0f'.includes(character) && before > 0xff ? character : '';
  });
}

const spaced = /\s\s|[^\S ]/;

/** On one line, blanks collapsed. */
export const line = (text: string): string =>
  legible(spaced.test(text) ? text.replaceAll(/\s+/g, ' ') : text).trim();
