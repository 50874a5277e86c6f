// Members of elements and of the document as the browser has them. A page can name elements so that they stand in for
// members of `document` and of forms (`<img name="body">`, `<input name="tagName">`), so they are taken from the
// prototypes of this world, which the page cannot reach.

const getters = new Map<object, Map<string, (() => unknown) | undefined>>();

function getterOf(prototype: object, name: string): (() => unknown) | undefined {
  const known = getters.get(prototype) ?? new Map();
  getters.set(prototype, known);
  if (!known.has(name)) known.set(name, Object.getOwnPropertyDescriptor(prototype, name)?.get);
  return known.get(name);
}

/** A property as its prototype defines it. */
export function member(prototype: object, name: string, of: object): unknown {
  const getter = getterOf(prototype, name);
  return getter === undefined ? Reflect.get(prototype, name, of) : getter.call(of);
}

/** The tag's name, in lower case for HTML. */
export const tag = (element: Element): string => String(member(Element.prototype, 'localName', element));

export const attribute = (element: Element, name: string): string =>
  Element.prototype.getAttribute.call(element, name) ?? '';

export const has = (element: Element, name: string): boolean =>
  Element.prototype.hasAttribute.call(element, name);

export const matches = (element: Element, selector: string): boolean =>
  Element.prototype.matches.call(element, selector);

export const all = (element: Element, selector: string): Element[] =>
  Array.from(Element.prototype.querySelectorAll.call(element, selector));

export const closest = (element: Element, selector: string): Element | null =>
  Element.prototype.closest.call(element, selector);

export function shadow(element: Element): ShadowRoot | undefined {
  const found = element.shadowRoot; // a form, the only element whose members can be hidden, has none
  return found instanceof ShadowRoot ? found : undefined;
}

export function childNodes(node: Node): Node[] {
  const list = member(Node.prototype, 'childNodes', node);
  return list instanceof NodeList ? Array.from(list) : [];
}
