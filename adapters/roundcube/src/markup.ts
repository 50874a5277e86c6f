// Turns HTML of messages into plain text a model can read.

const parse = (html: string): Document => new DOMParser().parseFromString(html, 'text/html');

/** HTML without its markup, on one line. */
export const plain = (html: string): string =>
  (parse(html).body.textContent ?? '').replaceAll(/\s+/g, ' ').trim();

/** An element as text: paragraphs apart, list items with a dash, quotes as in mail. */
export function readable(element: Element): string {
  for (const hidden of element.querySelectorAll('style, script, title')) hidden.remove();
  return block(element)
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ *\n */g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

const apart = new Set(['P', 'UL', 'OL', 'PRE', 'TABLE', 'H1', 'H2', 'H3', 'H4', 'H5', 'H6']);

function block(node: Node): string {
  let out = '';
  for (const child of node.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) out += (child.textContent ?? '').replaceAll('\n', ' ');
    else out += around(child.nodeName, block(child));
  }
  return out;
}

function around(name: string, inner: string): string {
  if (apart.has(name)) return `\n\n${inner}\n\n`;
  if (name === 'BLOCKQUOTE') return `\n${inner.trim().replaceAll(/^/gm, '> ')}\n`;
  if (name === 'LI') return `\n- ${inner.trim()}`;
  if (name === 'TD' || name === 'TH') return `${inner.trim()} | `;
  if (name === 'TR' || name === 'DIV') return `\n${inner}`;
  return name === 'BR' ? '\n' : inner;
}

/** A page that Roundcube made, to look for elements in. */
export const pageOf = parse;

/** The names and addresses of a header cell. */
export function people(html: string): string {
  const body = parse(html).body;
  for (const one of body.querySelectorAll('.rcmContactAddress[title]')) {
    const name = one.textContent ?? '';
    const mail = one.getAttribute('title') ?? '';
    one.textContent = name === mail || mail === '' ? name : `${name} <${mail}>`;
  }
  return (body.textContent ?? '').replaceAll(/\s+/g, ' ').trim();
}
