// Names and roles by the specifications, widgets of the ARIA Authoring Practices, and what people do not see: in a real
// Chromium, element by element.
import { expect, type Page, test } from '@playwright/test';
import { names, roles, unseen, widgets } from '../sites/names.ts';
import { pageCode } from '../stage/page-code.ts';

let page: Page;

test.beforeAll(async ({ browser }) => {
  page = await browser.newPage();
});

test.afterAll(() => page.close());

const code = () =>
  pageCode(
    `import { lines } from './tree.ts';
   const indented = (all) => all.map(({ depth, text }) => ' '.repeat(depth) + text).join('\\n');
   import { nameOf } from './names.ts';
   import { roleOf } from './roles.ts';
   import { pageText } from './reading/shown.ts';
   const one = () => document.getElementById('t');
   Object.assign(globalThis, {
     told: () => indented(lines(document)),
     called: () => nameOf(one()),
     is: () => roleOf(one()),
     read: () => pageText(),
   });`,
  );

async function ask(script: string, body: string, what: string): Promise<unknown> {
  await page.setContent(`<!doctype html><body>${body}`);
  await page.evaluate('globalThis.tabrelayReferences = undefined');
  await page.evaluate(script);
  return page.evaluate(`${what}()`);
}

test('elements are called what accname and HTML-AAM say', async () => {
  const script = await code();
  for (const [what, html, name] of names) expect.soft(await ask(script, html, 'called'), what).toBe(name);
});

test('elements have the roles that ARIA and HTML-AAM say', async () => {
  const script = await code();
  for (const [html, role] of roles) expect.soft(await ask(script, html, 'is'), html).toBe(role);
});

test('widgets are told by role, name, state and value', async () => {
  const script = await code();
  for (const [what, html, lines] of widgets) expect.soft(await ask(script, html, 'told'), what).toBe(lines);
});

test('the text of a page has the words of style sheets where people see them', async () => {
  const style =
    '.q::before{content:"Total: "}.u::after{content:" kg"}.b::before{content:"→"}.n::before{content:"no"}';
  const html = `<style>${style}</style><h1>Cart</h1><p class=q>12</p><p>of <b class=u>3</b> <i>apples</i></p>
<p class=b>on</p>
<table><tr><td class=q>1<td>2</table><p class=n hidden>x</p><p>end</p>`;
  const words = 'Cart\n\nTotal: 12\n\nof 3 kg apples\n\non\n\nTotal: 1\t2\n\nend';
  expect(await ask(await code(), html, 'read')).toBe(words);
});

test('what people do not see is not told', async () => {
  const script = await code();
  for (const [how, html] of unseen)
    expect.soft(await ask(script, html, 'told'), how).not.toMatch(/SECRET|[\u{E0000}-\u{E007F}]/u);
});
