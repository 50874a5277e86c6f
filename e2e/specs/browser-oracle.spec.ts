// Names and roles beside those of another implementation, dom-accessibility-api, over all pages that tests have: each
// difference is in a table with who is right.
import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { expect, type Page, test } from '@playwright/test';
import { everyday } from '../sites/everyday.ts';
import { names, roles, unseen, widgets } from '../sites/names.ts';
import { nameDifferences, roleDifferences } from '../sites/oracle.ts';
import { pageCode } from '../stage/page-code.ts';
import { repository } from '../stage/paths.ts';

interface Compared {
  where: string;
  tag: string;
  role: [ours: string, theirs: string];
  name: [ours: string, theirs: string];
}

// What a page does to the DOM's own functions, the other implementation falls for.
const withoutScripts = (html: string): string => html.replace(/<script[\s\S]*?<\/script>/g, '');

const folders = ['extension/test/testdata', 'e2e/sites/testdata/acts', 'e2e/bench/errands/testdata'];
const files = folders.flatMap((folder) =>
  readdirSync(path.join(repository, folder))
    .filter((name) => name.endsWith('.html'))
    .map((name) => {
      const html = readFileSync(path.join(repository, folder, name), 'utf8');
      return [`${folder}/${name}`, name === 'hostile.html' ? withoutScripts(html) : html] as const;
    }),
);

const pages: readonly (readonly [where: string, html: string])[] = [
  ...names.map(([what, html]) => [what, html] as const),
  ...roles.map(([html]) => [html, html] as const),
  ...widgets.map(([what, html]) => [what, html] as const),
  ...unseen,
  ...Object.entries(everyday),
  ...files,
];

const code = () =>
  pageCode(
    `import { computeAccessibleName, getRole } from 'dom-accessibility-api';
   import { nameOf } from '../extension/src/browser/names.ts';
   import { roleOf } from '../extension/src/browser/roles.ts';
   const line = (text) => text.replace(/\\s+/g, ' ').trim();
   globalThis.compare = () => Array.from(document.body.querySelectorAll('*'))
     .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.closest('[aria-hidden=true]'))
     .map((one) => ({
       tag: one.localName,
       role: [roleOf(one), getRole(one) ?? ''],
       name: [line(nameOf(one)), line(computeAccessibleName(one))],
     }));`,
    'e2e',
  );

async function compareAll(page: Page): Promise<Compared[]> {
  const script = await code();
  const all: Compared[] = [];
  for (const [where, html] of pages) {
    await page.setContent(html.startsWith('<!doctype') ? html : `<!doctype html><body>${html}`);
    await page.evaluate('globalThis.tabrelayReferences = undefined');
    await page.evaluate(script);
    const found: Omit<Compared, 'where'>[] = await page.evaluate('compare()');
    all.push(...found.map((one) => ({ where, ...one })));
  }
  return all;
}

const distinct = (list: readonly string[]): string[] => Array.from(new Set(list)).sort();

test('names and roles differ from another implementation only where it is known who is right', async ({
  page,
}) => {
  const all = await compareAll(page);
  expect(all.length).toBeGreaterThan(600);
  const differ = ([ours, theirs]: readonly [string, string]) => ours !== theirs;
  const said = (parts: readonly string[]) => parts.map((part) => JSON.stringify(part)).join(' | ');
  const inRoles = all.filter(({ role }) => differ(role));
  expect(distinct(inRoles.map(({ role }) => said(role)))).toEqual(
    distinct(roleDifferences.map(([ours, theirs]) => said([ours, theirs]))),
  );
  const inNames = all.filter(({ name }) => differ(name));
  expect(distinct(inNames.map(({ tag, name }) => said([tag, ...name])))).toEqual(
    distinct(nameDifferences.map(([tag, ours, theirs]) => said([tag, ours, theirs]))),
  );
});
