// Turns HTML that the wiki made into plain text a model can read.

import { htmlToText, parseHTML } from '@tabrelay/plugin-sdk/html';

const hidden = '.mw-editsection, .noprint, .mw-empty-elt, .navbox, .reference';

/** A rendered article as text, with headings as in wikitext. */
export const article = (html: string): string =>
  htmlToText(html, { without: hidden, heading: '=' });

/** The rows of a difference as the wiki renders it: "-" what went, "+" what came, " " what stayed. */
export function difference(rows: string): string {
  const lines: string[] = [];
  for (const row of parseHTML(`<table>${rows}</table>`).querySelectorAll('tr')) {
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
