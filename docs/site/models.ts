// The documentation for models: llms.txt is the menu with a sentence for each page, llms-full.txt is every
// page in one file.

import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { addressOf, doors, fileOf, places, repository } from './menu.ts';

export function writeForModels(site: string, base: string, title: string, description: string): void {
  const groups = doors.flatMap((door) =>
    door.groups.map((group) => {
      const heading = [door.title, group.title].filter(Boolean).join(': ');
      const lines = group.pages.map((page) => {
        const about = page.about && `: ${page.about}`;
        return `- [${page.title}](${base}${pageOf(page.file)})${about}`;
      });
      return `## ${heading}\n\n${lines.join('\n')}\n`;
    }),
  );
  const whole = `All pages in one file: [llms-full.txt](${base}llms-full.txt)`;
  writeFileSync(
    path.join(site, 'llms.txt'),
    [`# ${title}\n\n> ${description}\n\n${whole}\n`, ...groups].join('\n'),
  );
  writeFileSync(path.join(site, 'llms-full.txt'), [...places.keys()].map(wholePage).join('\n'));
}

/** The address of a page's HTML, without the site's own. */
function pageOf(file: string): string {
  const address = addressOf(places.get(file) ?? '').slice(1);
  return address === '' || address.endsWith('/') ? address : `${address}.html`;
}

/** A page as it is in the repository; its links name files from the root, as the headings here do. */
function wholePage(file: string): string {
  const text = readFileSync(path.join(repository, file), 'utf8').replace(
    /(\]\()(?![a-z]+:|#)([^)\s]+)\)/g,
    (_, open: string, link: string) => `${open}${fileOf(file, link)})`,
  );
  return `<document file="${file}">\n${text.trim()}\n</document>\n`;
}
