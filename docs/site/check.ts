// Looks through the built site for what would be loaded from elsewhere. Links that a reader may follow are not loaded.
// Of scripts nobody can tell by reading; the pages' policy forbids them to load anything, and `make site-test` watches.

import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

const loads = [
  /<(?:script|img|iframe|source|video|audio|embed|track)\b[^>]*\b(?:src|srcset|poster)="((?:https?:)?\/\/[^"]+)/g,
  /<link\b[^>]*\bhref="((?:https?:)?\/\/[^"]+)/g,
  /url\(["']?((?:https?:)?\/\/[^)"']+)/g,
  /@import\s+["']((?:https?:)?\/\/[^"']+)/g,
];

/** Says how many pages the site has, or fails. */
export function checkSite(site: string): void {
  const files = readdirSync(site, { recursive: true, encoding: 'utf8' });
  const found = files
    .filter((file) => /\.(html|css)$/.test(file))
    .flatMap((file) => {
      const text = readFileSync(path.join(site, file), 'utf8');
      return loads.flatMap((load) => [...text.matchAll(load)].map((match) => `${file} loads ${match[1]}`));
    });
  if (found.length > 0) throw new Error(found.join('\n'));
  const pages = files.filter((file) => file.endsWith('.html') && file !== '404.html').length;
  console.log(`${pages} pages; nothing is loaded from elsewhere`);
}
