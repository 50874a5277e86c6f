// Turns HTML that the wiki made into plain text a model can read.

/** HTML without its markup, on one line. */
export function plain(html: string): string {
  return (parse(html).body.textContent ?? '').replaceAll(/\s+/g, ' ').trim();
}

const hidden = 'style, script, .mw-editsection, .noprint, .mw-empty-elt, .navbox, .reference';

/** A rendered article as text: a heading as in wikitext, list items with a dash, table cells between bars. */
export function article(html: string): string {
  const body = parse(html).body;
  for (const element of body.querySelectorAll(hidden)) element.remove();
  return block(body)
    .replaceAll(/[^\S\n]+/g, ' ')
    .replaceAll(/ *\n */g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

function block(node: Node): string {
  let out = '';
  for (const child of node.childNodes) {
    out +=
      child.nodeType === Node.TEXT_NODE ? (child.textContent ?? '').replaceAll('\n', ' ') : around(child);
  }
  return out;
}

function around(node: Node): string {
  const inner = block(node);
  switch (node.nodeName) {
    case 'H1':
    case 'H2':
    case 'H3':
    case 'H4':
    case 'H5':
    case 'H6': {
      const bars = '='.repeat(Number(node.nodeName.slice(1)));
      return `\n\n${bars} ${inner.trim()} ${bars}\n\n`;
    }
    case 'LI':
      return `\n- ${inner.trim()}`;
    case 'BR':
      return '\n';
    case 'TD':
    case 'TH':
      return `${inner.trim()} | `;
    case 'TR':
    case 'DT':
    case 'DD':
      return `\n${inner}`;
    case 'P':
    case 'UL':
    case 'OL':
    case 'DL':
    case 'TABLE':
    case 'BLOCKQUOTE':
    case 'PRE':
      return `\n\n${inner}\n\n`;
    case 'DIV':
    case 'FIGURE':
      return `\n${inner}\n`;
    default:
      return inner;
  }
}

/** The rows of a difference as the wiki renders it: "-" what went, "+" what came, " " what stayed. */
export function difference(rows: string): string {
  const lines: string[] = [];
  for (const row of parse(`<table>${rows}</table>`).querySelectorAll('tr')) {
    const place = row.querySelector('.diff-lineno');
    if (place) lines.push(`@ ${place.textContent?.trim() ?? ''}`);
    const context = row.querySelector('.diff-context');
    if (context) lines.push(`  ${context.textContent ?? ''}`);
    const gone = row.querySelector('.diff-deletedline');
    if (gone) lines.push(`- ${gone.textContent ?? ''}`);
    const come = row.querySelector('.diff-addedline');
    if (come) lines.push(`+ ${come.textContent ?? ''}`);
  }
  return lines.join('\n');
}

const parse = (html: string): Document => new DOMParser().parseFromString(html, 'text/html');
