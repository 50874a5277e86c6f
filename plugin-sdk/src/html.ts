// Turns HTML that a site made into text a model can read. The markup is parsed into a document without a window:
// nothing in it is loaded, and nothing runs.

export interface TextStyle {
  /** A selector of what is left out besides scripts and styles, such as `.advertisement`. */
  readonly without?: string;
  /** What a heading begins with, once for each level, and ends with as in wikitext when it is `=`. Default `#`. */
  readonly heading?: '#' | '=';
  /** The address to write behind a link, from its href; empty for none. Default: no link has its address written. */
  readonly address?: (href: string) => string;
}

/** The document that HTML describes. */
export const parseHTML = (html: string): Document => new DOMParser().parseFromString(html, 'text/html');

/** HTML without its markup, on one line. */
export const plainText = (html: string): string => oneLine(parseHTML(html).body.textContent ?? '');

const oneLine = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/**
 * HTML, or an element (which loses what is left out), as Markdown: headings, lists, quotes, code, cells between bars.
 */
export function htmlToText(source: string | Element, style: TextStyle = {}): string {
  const element = typeof source === 'string' ? parseHTML(source).body : source;
  const unwanted = `style, script, title${style.without === undefined ? '' : `, ${style.without}`}`;
  for (const hidden of element.querySelectorAll(unwanted)) hidden.remove();
  return block(element, style)
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ *\n */g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
    .replaceAll(keptBlank, ' ')
    .replaceAll(keptBreak, '\n');
}

function block(node: Node, style: TextStyle): string {
  let out = '';
  for (const child of node.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) out += (child.nodeValue ?? '').replaceAll(/\s+/g, ' ');
    else if (isElement(child)) out += around(child, style);
  }
  return out;
}

const isElement = (node: Node): node is Element => node.nodeType === Node.ELEMENT_NODE;

/** Elements whose text stands apart from what is around it: by an empty line, or on lines of its own. */
const apart = new Set(['p', 'ul', 'ol', 'dl', 'table', 'section', 'article']);
const ownLines = new Set(['div', 'figure']);
const newLine = new Set(['tr', 'dt', 'dd', 'figcaption']);

function around(element: Element, style: TextStyle): string {
  const name = element.localName;
  if (name === 'pre') return `\n\n\`\`\`\n${asIs(element.textContent ?? '')}\n\`\`\`\n\n`;
  if (name === 'br') return '\n';
  const inner = block(element, style);
  const text = inner.trim();
  const level = /^h([1-6])$/.exec(name)?.[1];
  if (level !== undefined) return `\n\n${headline(text, Number(level), style)}\n\n`;
  if (apart.has(name)) return `\n\n${inner}\n\n`;
  if (ownLines.has(name)) return `\n${inner}\n`;
  if (newLine.has(name)) return `\n${inner}`;
  switch (name) {
    case 'a': {
      const to = text === '' ? '' : (style.address?.(element.getAttribute('href') ?? '') ?? '');
      return to === '' ? inner : `[${text}](${to})`;
    }
    case 'li':
      return `\n- ${text}`;
    case 'td':
    case 'th':
      return `${text} | `;
    case 'code':
      return text === '' ? '' : `\`${inner}\``;
    case 'blockquote':
      return `\n\n${text.replaceAll(/\n{2,}/g, '\n\n').replaceAll(/^/gm, '> ')}\n\n`;
  }
  return inner;
}

function headline(text: string, level: number, { heading = '#' }: TextStyle): string {
  const bars = heading.repeat(level);
  return heading === '#' ? `${bars} ${text}` : `${bars} ${text} ${bars}`;
}

// Blanks and line breaks of code, as characters that no text has until the others are collapsed.
const keptBlank = '\ue000';
const keptBreak = '\ue001';

const asIs = (code: string): string =>
  code
    .replaceAll(/\n*$/g, '')
    .replaceAll(/[^\S\n]/g, keptBlank)
    .replaceAll('\n', keptBreak);
