// Names as public tests expect them, beside two witnesses: Chromium's own tree and dom-accessibility-api. Where ours
// are not as expected, a table says why, and no name is one that neither the tests nor Chromium have.
import { type CDPSession, expect, type Page, test } from '@playwright/test';
import { deviations, type PublicCase, publicCases } from '../sites/accname.ts';
import { pageCode } from '../stage/page-code.ts';

let page: Page;

test.beforeAll(async ({ browser }) => {
  page = await browser.newPage();
});

test.afterAll(() => page.close());

const line = (text: string): string => text.replace(/\s+/g, ' ').trim();

const code = () =>
  pageCode(
    `import { computeAccessibleName } from 'dom-accessibility-api';
   import { nameOf } from '../extension/src/browser/names.ts';
   globalThis.namesOf = async (pages) => {
     const all = [];
     for (const html of pages) {
       document.body.setHTMLUnsafe(html);
       await null; // what is remembered of labels is of one walk
       await null;
       const one = document.getElementById('t');
       all.push([nameOf(one), computeAccessibleName(one)]);
     }
     return all;
   };`,
    'e2e',
  );

async function ourNames(): Promise<[ours: string, theirs: string][]> {
  await page.setContent('<!doctype html><body>');
  await page.evaluate(await code());
  const pages = JSON.stringify(publicCases.map(([, html]) => html));
  const found: [string, string][] = await page.evaluate(`namesOf(${pages})`);
  return found.map(([ours, theirs]) => [line(ours), line(theirs)]);
}

interface DomNode {
  backendNodeId: number;
  nodeName: string;
  attributes?: string[];
  children?: DomNode[];
  shadowRoots?: DomNode[];
}

const inside = ({ shadowRoots = [], children = [] }: DomNode): DomNode[] => [...shadowRoots, ...children];

function find(node: DomNode, fits: (node: DomNode) => boolean): DomNode | undefined {
  if (fits(node)) return node;
  for (const one of inside(node)) {
    const found = find(one, fits);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isAsked = ({ attributes = [] }: DomNode): boolean =>
  attributes.some((name, at) => at % 2 === 0 && name === 'id' && attributes[at + 1] === 't');

// All cases at once, each in a shadow root with ids and styles of its own.
async function chromiumNames(devtools: CDPSession): Promise<string[]> {
  await page.evaluate(
    (pages) => {
      document.body.replaceChildren(
        ...pages.map((html) => {
          const host = document.createElement('div');
          host.attachShadow({ mode: 'open' }).setHTMLUnsafe(html);
          return host;
        }),
      );
    },
    publicCases.map(([, html]) => html),
  );
  await devtools.send('Accessibility.enable');
  const { root } = await devtools.send('DOM.getDocument', { depth: -1, pierce: true });
  const { nodes } = await devtools.send('Accessibility.getFullAXTree');
  const names = new Map(
    nodes.map(({ backendDOMNodeId, name }) => [backendDOMNodeId, String(name?.value ?? '')]),
  );
  const body = find(root, ({ nodeName }) => nodeName === 'BODY');
  return (body?.children ?? []).map((host) =>
    line(names.get(find(host, isAsked)?.backendNodeId ?? -1) ?? ''),
  );
}

const nameOfCase = ([from, html, name]: PublicCase, ours: string): string =>
  `${from}: ${html}: expected ${JSON.stringify(name)}, is ${JSON.stringify(ours)}`;

const isListed = ([from, html]: PublicCase, ours: string): boolean =>
  deviations.some(([test, what, name]) => test === from && what.test(html) && name === ours);

test('elements are called what public tests expect, but for what is listed with its reason', async () => {
  const ours = (await ourNames()).map(([name]) => name);
  const wrong = publicCases.filter(([, , name], at) => ours[at] !== name);
  const unlisted = publicCases.flatMap((one, at) =>
    ours[at] === one[2] || isListed(one, ours[at] ?? '') ? [] : [nameOfCase(one, ours[at] ?? '')],
  );
  expect(unlisted).toEqual([]);
  for (const [from, html] of deviations)
    expect(
      wrong.filter(([test, page]) => test === from && html.test(page)).length,
      `${from} ${html} is as expected now`,
    ).toBeGreaterThan(0);
  expect(publicCases.length).toBeGreaterThan(900);
  expect(1 - wrong.length / publicCases.length).toBeGreaterThan(0.99);
});

test('no name is ours alone: it is the expected one, or what Chromium says', async () => {
  const both = await ourNames();
  const devtools = await page.context().newCDPSession(page);
  const chromes = await chromiumNames(devtools);
  expect(chromes.length).toBe(publicCases.length);
  const alone = publicCases.flatMap((one, at) => {
    const ours = both[at]?.[0] ?? '';
    return ours === one[2] || ours === chromes[at] ? [] : [nameOfCase(one, ours)];
  });
  expect(alone.filter((one) => !one.includes('role=none disabled'))).toEqual([]);
  const right = (names: readonly (string | undefined)[]) =>
    publicCases.filter(([, , name], at) => names[at] === name).length;
  expect(right(both.map(([ours]) => ours))).toBeGreaterThan(right(chromes));
  expect(right(both.map(([ours]) => ours))).toBeGreaterThan(right(both.map(([, theirs]) => theirs)));
});
