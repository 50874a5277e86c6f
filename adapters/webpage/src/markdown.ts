// Elements as text a model can read: headings, lists, tables and code as in Markdown.

export interface Style {
  /** Write the addresses of links. */
  links: boolean;
}

/** The element's content; `address` turns the text of a link's href into where it leads. */
export function markdown(element: Element, style: Style, address: (href: string) => string): string {
  return block(element, style, address)
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ *\n */g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim()
    .replaceAll('\ue000', ' ')
    .replaceAll('\ue001', '\n');
}

function block(node: Node, style: Style, address: (href: string) => string): string {
  let out = '';
  for (const child of node.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) out += (child.nodeValue ?? '').replaceAll(/\s+/g, ' ');
    else if (child instanceof Element) out += around(child, style, address);
  }
  return out;
}

/** Blanks that survive until the end, as characters that no text has. */
const asIs = (code: string): string =>
  code
    .replaceAll(/\n*$/g, '')
    .replaceAll(/[^\S\n]/g, '\ue000')
    .replaceAll('\n', '\ue001');

function around(element: Element, style: Style, address: (href: string) => string): string {
  const name = element.localName;
  if (name === 'pre') return `\n\n\`\`\`\n${asIs(element.textContent ?? '')}\n\`\`\`\n\n`;
  const inner = block(element, style, address);
  const heading = /^h([1-6])$/.exec(name);
  if (heading !== null) return `\n\n${'#'.repeat(Number(heading[1]))} ${inner.trim()}\n\n`;
  switch (name) {
    case 'a': {
      const to = style.links ? address(element.getAttribute('href') ?? '') : '';
      return to === '' || inner.trim() === '' ? inner : `[${inner.trim()}](${to})`;
    }
    case 'li':
      return `\n- ${inner.trim()}`;
    case 'br':
      return '\n';
    case 'td':
    case 'th':
      return `${inner.trim()} | `;
    case 'tr':
    case 'dt':
    case 'dd':
    case 'figcaption':
      return `\n${inner}`;
    case 'code':
      return inner === '' ? '' : `\`${inner}\``;
    case 'p':
    case 'ul':
    case 'ol':
    case 'dl':
    case 'table':
    case 'blockquote':
    case 'section':
    case 'article':
      return `\n\n${inner}\n\n`;
    case 'div':
    case 'figure':
      return `\n${inner}\n`;
    default:
      return inner;
  }
}
