// What a page shows and what it is made of, read in the isolated world: what the page did to its own built-ins does not
// reach there. Elements that a page named like members of `document` do, so those are taken from the prototypes.

export interface PageText {
  url: string; // origin and path only: what follows may hold secrets
  origin: string;
  title: string;
  contentType: string;
  text: string; // what was asked for, from the start-th character on
  start: number;
  total: number; // characters there are
  closed?: true; // it may not be read: text says so, and nothing else is of it
}

/**
 * Reads the document it is injected into; undefined for a frame that nobody can see. Chrome takes the source of this
 * function alone, so it uses nothing from outside. For the markup scripts/html.ts has to be there.
 */
export function readPage(kind: 'text' | 'html', from: number, max: number): PageText | undefined {
  const get = (prototype: object, name: string): unknown =>
    Object.getOwnPropertyDescriptor(prototype, name)?.get?.call(document);
  const body = get(Document.prototype, 'body');
  const root = get(Document.prototype, 'documentElement');
  const title = get(Document.prototype, 'title');

  // Text of an open shadow root is no part of its host's innerText, so it follows at the end.
  const shadowText = (from: ParentNode): string[] => {
    const texts: string[] = [];
    for (const host of from.querySelectorAll('*')) {
      const { shadowRoot } = host;
      if (shadowRoot === null) continue;
      for (const child of shadowRoot.children) if (child instanceof HTMLElement) texts.push(child.innerText);
      texts.push(...shadowText(shadowRoot));
    }
    return texts;
  };

  const text = (): string => {
    if (!(body instanceof HTMLElement)) return root instanceof Element ? (root.textContent ?? '') : '';
    const parts = [body.innerText, ...shadowText(body)];
    return parts
      .filter((part) => part.trim() !== '')
      .join('\n\n')
      .replace(/[\u00a0\t ]+$/gm, '')
      .replace(/\n{3,}/g, '\n\n')
      .trim();
  };

  const html = (): string => {
    if (!(root instanceof Element)) return '';
    const doctype = get(Document.prototype, 'doctype') === null ? '' : '<!doctype html>\n';
    return doctype + (globalThis.tabrelayHtml?.(root) ?? '');
  };

  if (window.top !== window && (innerWidth < 2 || innerHeight < 2)) return undefined;
  const whole = kind === 'text' ? text() : html();
  const start = window.top === window ? from : 0; // where a frame begins in the whole, only the worker knows
  return {
    url: `${location.protocol}${/^http/.test(location.protocol) ? `//${location.host}` : ''}${location.pathname}`.slice(
      0,
      2048,
    ),
    origin: self.origin,
    title: typeof title === 'string' ? title.slice(0, 1024) : '',
    contentType: String(get(Document.prototype, 'contentType')),
    text: whole.slice(start, from + max),
    start,
    total: whole.length,
  };
}
