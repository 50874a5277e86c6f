// What the browser says of an element. A page can name the fields of a form so that they stand in for its members
// (`<input name="localName">`), so members are read as the prototypes of this world define them, which no page reaches.
import { focusedAtOnce, type Kind, known, readInto, remembered } from './moment.ts';

type Getter = (this: unknown) => unknown;

// Each is called where it is known which one it is, so that engines can make the call a short one.
function getter(prototype: object, name: string): Getter {
  const found = Object.getOwnPropertyDescriptor(prototype, name)?.get;
  return found ?? (() => undefined); // where there is no page: while a plugin is built
}

const readName = getter(Element.prototype, 'localName');
const readParent = getter(Node.prototype, 'parentNode');
const readFirst = getter(Node.prototype, 'firstChild');
const readFirstElement = getter(Element.prototype, 'firstElementChild');
const readNext = getter(Node.prototype, 'nextSibling');
const readRoot = getter(Element.prototype, 'shadowRoot');
const readSlot = getter(Element.prototype, 'assignedSlot');
const readTextSlot = getter(Text.prototype, 'assignedSlot');
const readConnected = getter(Node.prototype, 'isConnected');
const readTabIndex = getter(HTMLElement.prototype, 'tabIndex');
const readText = getter(Node.prototype, 'textContent');
const readValue = getter(Node.prototype, 'nodeValue');
const readActive = getter(Document.prototype, 'activeElement');

/** The name of its tag, in lower case. */
export function tag(element: Element): string {
  const about = remembered(element);
  if (about === undefined) return readTag(element);
  about.tag ??= readTag(element);
  return about.tag;
}

function readTag(element: Element): string {
  const name = readName.call(element);
  return typeof name === 'string' ? name.toLowerCase() : '';
}

const none: readonly never[] = [];

/** The names of its attributes. */
export function attributes(element: Element): readonly string[] {
  const about = known(element);
  about.attributes ??= Element.prototype.hasAttributes.call(element)
    ? Element.prototype.getAttributeNames.call(element)
    : none;
  return about.attributes;
}

// Most attributes that are asked for are not there, which is known without Chrome once their names were read.
const mayHave = (element: Element, name: string): boolean =>
  remembered(element) === undefined || attributes(element).includes(name);

export const attribute = (element: Element, name: string): string | null =>
  mayHave(element, name) ? Element.prototype.getAttribute.call(element, name) : null;

/** Whether it has any attribute. */
export const hasSome = (element: Element): boolean => attributes(element).length > 0;

export const has = (element: Element, name: string): boolean =>
  mayHave(element, name) && Element.prototype.hasAttribute.call(element, name);

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
  const about = known(element);
  if (about.root === undefined) about.root = mayHaveShadow(element) ? readShadow(element, about.kind) : null;
  return about.root ?? undefined;
}

function readShadow(element: Element, kind: Kind | undefined): ShadowRoot | null {
  const open = readRoot.call(element);
  if (open instanceof ShadowRoot) return open;
  return element instanceof HTMLElement ? closedRoot(element, kind) : null;
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
const mayHaveShadow = (element: Element): boolean => {
  const name = tag(element);
  return hosts.has(name) || name.includes('-');
};
const isCustom = (element: HTMLElement): boolean => tag(element).includes('-');

/** What is displayed in an element: the elements and texts of its shadow root, and what is put into a slot. */
export function content(element: Element): readonly (Element | string)[] {
  const about = known(element);
  if (about.content === undefined) {
    about.content = readContent(element);
    for (const one of about.content) if (typeof one !== 'string') known(one).holder = element;
  }
  return about.content;
}

function readContent(element: Element): readonly (Element | string)[] {
  const root = shadowRoot(element);
  if (root !== undefined) {
    readInto(root);
    return childrenOf(root);
  }
  if (element instanceof HTMLSlotElement) {
    const given = element.assignedNodes();
    if (given.length > 0) return given.flatMap((node) => displayed(node) ?? []);
  }
  if (readFirstElement.call(element) !== null) return childrenOf(element);
  const text = textOf(element);
  return text === '' ? none : [text];
}

// From one to the next is the way that costs Chrome least.
function childrenOf(node: Node): readonly (Element | string)[] {
  const all: (Element | string)[] = [];
  for (let at = readFirst.call(node); at instanceof Node; at = readNext.call(at)) {
    const one = displayed(at);
    if (one !== undefined) all.push(one);
  }
  return all;
}

function displayed(node: Node): Element | string | undefined {
  if (node instanceof Element) return node;
  const text = node instanceof Text ? readValue.call(node) : undefined;
  return typeof text === 'string' ? text : undefined;
}

/** The element that a node is displayed in: of a slotted one, the slot. */
export function holder(node: Node): Element | undefined {
  const about = node instanceof Element ? remembered(node) : undefined;
  if (about === undefined) return readHolder(node);
  if (about.holder === undefined) about.holder = readHolder(node) ?? null;
  return about.holder ?? undefined;
}

function readHolder(node: Node): Element | undefined {
  if (node instanceof Element || node instanceof Text) {
    const slot = node instanceof Element ? readSlot.call(node) : readTextSlot.call(node);
    if (slot instanceof Element) return slot;
  }
  const parent = readParent.call(node);
  if (parent instanceof ShadowRoot) return parent.host;
  return parent instanceof Element ? parent : undefined;
}

/** The areas of a picture's map. */
export function areasOf(picture: Element): Element[] {
  const use = attribute(picture, 'usemap');
  return all(picture, 'map').flatMap((map) =>
    `#${attribute(map, 'name')}` === use ? within(map, 'area') : [],
  );
}

/** The picture that an area of a map is a part of. */
export const pictureOf = (area: Element): Element | undefined =>
  all(area, 'img[usemap]').find((picture) => areasOf(picture).includes(area));

function all(near: Element, selector: string): Element[] {
  const scope = Node.prototype.getRootNode.call(near);
  return scope instanceof Document || scope instanceof ShadowRoot
    ? Array.from(scope.querySelectorAll(selector))
    : [];
}

/** The element that has the focus, and the hosts in whose shadow it stands: the outermost first. */
export const focused = (): readonly Element[] =>
  focusedAtOnce(() => {
    const all: Element[] = [];
    let at: unknown = readActive.call(document);
    while (at instanceof Element) {
      all.push(at);
      at = shadowRoot(at)?.activeElement;
    }
    return all;
  });

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

const tidy = /^[!-~]+(?: [!-~]+)*$/;
const blank = /^\s*$/;

/** On one line, blanks collapsed. */
export const line = (text: string): string => {
  if (tidy.test(text)) return text;
  return blank.test(text) ? '' : legible(text.replaceAll(/\s+/g, ' ')).trim();
};
