// Turns HTML that the site made into plain text a model can read.

/** HTML as text: a heading as in Markdown, list items with a dash, paragraphs apart. */
export function plain(html: string): string {
  const body = new DOMParser().parseFromString(html, 'text/html').body;
  for (const element of body.querySelectorAll('style, script')) element.remove();
  return block(body)
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ *\n */g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

const apart = new Set(['P', 'UL', 'OL', 'BLOCKQUOTE', 'PRE', 'TABLE', 'FIGURE']);

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
  if (/^H[1-6]$/.test(name)) return `\n\n${'#'.repeat(Number(name[1]))} ${inner.trim()}\n\n`;
  if (name === 'LI') return `\n- ${inner.trim()}`;
  if (name === 'TD' || name === 'TH') return `${inner.trim()} | `;
  if (name === 'TR' || name === 'DIV') return `\n${inner}`;
  return name === 'BR' ? '\n' : inner;
}
