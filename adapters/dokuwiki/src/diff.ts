// Reads the comparison that the wiki shows side by side.

import { partOf } from './api.ts';

/** "-" what went, "+" what came, " " what stayed. */
export function difference(page: Document): string {
  const lines: string[] = [];
  for (const row of partOf(page, 'table.diff').querySelectorAll('tr')) {
    const place = row.querySelector('.diff-blockheader');
    if (place) lines.push(`@ ${place.textContent?.trim() ?? ''}`);
    const stayed = row.querySelector('.diff-context');
    if (stayed) lines.push(`  ${lineOf(stayed)}`);
    const gone = row.querySelector('.diff-deletedline');
    if (gone) lines.push(`- ${lineOf(gone)}`);
    const come = row.querySelector('.diff-addedline');
    if (come) lines.push(`+ ${lineOf(come)}`);
  }
  return lines.join('\n');
}

const lineOf = (cell: Element): string => (cell.textContent ?? '').replaceAll('\u00a0', ' ');
