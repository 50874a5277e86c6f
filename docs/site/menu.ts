// The site's menu. It is read from the page where readers enter, docs/README.md: each heading of the second level is a
// door, each of the third a group in it, and each item of a list that begins with a link is a page.

import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import type { DefaultTheme } from 'vitepress';

export const repository = path.resolve(import.meta.dirname, '../..');
export const entrance = 'docs/README.md';

interface Door {
  title: string;
  groups: Group[];
}

interface Group {
  title: string;
  pages: Page[];
}

interface Page {
  title: string;
  file: string;
  about: string;
}

export const doors: readonly Door[] = readDoors(readFileSync(path.join(repository, entrance), 'utf8'));

function readDoors(text: string): Door[] {
  const found: Door[] = [];
  for (const line of text.split('\n')) {
    const [, level, title = ''] = /^(##|###) (.+)$/.exec(line) ?? [];
    const [, name = '', link = '', about = ''] = /^- \[([^\]]+)\]\(([^)]+)\)(?:: (.+))?/.exec(line) ?? [];
    if (level === '##') found.push({ title, groups: [{ title: '', pages: [] }] });
    else if (level === '###') found.at(-1)?.groups.push({ title, pages: [] });
    else if (name)
      found
        .at(-1)
        ?.groups.at(-1)
        ?.pages.push({ title: name, file: fileOf(entrance, link), about });
  }
  return found.filter((door) => door.groups.some((group) => group.pages.length > 0));
}

/** The file that a link of another file means, from the root of the repository. */
export function fileOf(from: string, link: string): string {
  return path.posix.join(path.posix.dirname(from), link);
}

/** Where the site has each page: docs/guides/errors.md is guides/errors.md, what lies elsewhere stands beside docs/. */
export const places: ReadonlyMap<string, string> = new Map([
  [entrance, 'index.md'],
  ...doors
    .flatMap((door) => door.groups.flatMap((group) => group.pages))
    .map(({ file }): [string, string] => [file, placeOf(file)]),
]);

function placeOf(file: string): string {
  if (!existsSync(path.join(repository, file)))
    throw new Error(`${entrance} lists ${file}, which is not there`);
  return file.startsWith('docs/') ? file.slice('docs/'.length) : path.posix.basename(file).toLowerCase();
}

/** The address of a page within the site. */
export const addressOf = (place: string): string => `/${place.replace(/(index)?\.md$/, '')}`;

const item = ({ title, file }: Page): DefaultTheme.NavItemWithLink => ({
  text: title,
  link: addressOf(places.get(file) ?? ''),
});

export const sidebar: DefaultTheme.SidebarItem[] = doors.map((door) => ({
  text: door.title,
  items: door.groups.flatMap((group): DefaultTheme.SidebarItem[] => {
    const pages = group.pages.map(item);
    return group.title ? [{ text: group.title, collapsed: true, items: pages }] : pages;
  }),
}));

export const nav: DefaultTheme.NavItem[] = doors.map((door) => {
  const own = door.groups.flatMap((group) => group.pages.map((page) => item(page).link));
  return { text: door.title, link: own[0] ?? '/', activeMatch: `^(${own.join('|')})(\\.html)?$` };
});
