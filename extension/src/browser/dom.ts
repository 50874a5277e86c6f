// What the browser says of an element. A page can name the fields of a form so that they stand in for its members
// (`<input name="localName">`), so members are read as the prototypes of this world define them, which no page reaches.
import { type Kind, known } from './moment.ts';

type Getter = (this: unknown) => unknown;

function getter(owner: () => object, name: string): (of: object) => unknown {
  let found: Getter | undefined;
  return (of) => {
    found ??= Object.getOwnPropertyDescriptor(owner(), name)?.get;
    return found?.call(of);
  };
}

const nodes = () => Node.prototype;
const elements = () => Element.prototype;

const readName = getter(elements, 'localName');
const readParent = getter(nodes, 'parentNode');
const readChildren = getter(nodes, 'childNodes');
const readRoot = getter(elements, 'shadowRoot');
const readSlot = getter(elements, 'assignedSlot');
const readConnected = getter(nodes, 'isConnected');
const readTabIndex = getter(() => HTMLElement.prototype, 'tabIndex');
const readType = getter(nodes, 'nodeType');
const readText = getter(nodes, 'textContent');

/** Which of the two kinds of nodes it is that are displayed. */
export const isElement = (node: Node): node is Element => readType(node) === 1;
export const isText = (node: Node): boolean => readType(node) === 3;

/** The name of its tag, in lower case. */
export function tag(element: Element): string {
  const name = readName(element);
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

export const connected = (node: Node): boolean => readConnected(node) === true;

export function textOf(node: Node): string {
  const text = readText(node);
  return typeof text === 'string' ? text : '';
}

export function tabIndex(element: Element): number {
  const index = element instanceof HTMLElement ? readTabIndex(element) : -1;
  return typeof index === 'number' ? index : -1;
}

/** Its shadow root, also a closed one. */
export function shadowRoot(element: Element): ShadowRoot | undefined {
  const open = readRoot(element);
  if (open instanceof ShadowRoot) return open;
  if (!(element instanceof HTMLElement) || !mayHaveShadow(element)) return undefined;
  const about = known(element);
  if (about.root === undefined) about.root = closedRoot(element, about.kind);
  return about.root ?? undefined;
}

const asked = 3;

// Chrome takes long to answer this. Where elements of a kind have none, those have none that show what stands in them.
function closedRoot(element: HTMLElement, kind: Kind | undefined): ShadowRoot | null {
  if (kind !== undefined && kind.rootless >= asked && childNodes(element).length > 0 && !isCustom(element))
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

const none: readonly Node[] = [];

/** The nodes that are displayed in an element: those of its shadow root, and what is put into a slot. */
export function content(node: Node): ArrayLike<Node> {
  if (node instanceof Element) {
    const root = shadowRoot(node);
    if (root !== undefined) return childNodes(root);
    if (node instanceof HTMLSlotElement) {
      const given = node.assignedNodes();
      if (given.length > 0) return given;
    }
  }
  return childNodes(node);
}

function childNodes(node: Node): ArrayLike<Node> {
  const list = readChildren(node);
  return list instanceof NodeList ? list : none;
}

/** The element that a node is displayed in: of a slotted one, the slot. */
export function holder(node: Node): Element | undefined {
  if (node instanceof Element || node instanceof Text) {
    const slot = node instanceof Element ? readSlot(node) : node.assignedSlot;
    if (slot instanceof Element) return slot;
  }
  const parent = readParent(node);
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
