// Things that are drawn, wrapped, listened to and pointed out in every way, more than two thousand combinations: each
// has a line of its own, and pressing it does what its words say and nothing else, as the page's own log tells.
import { expect, type Page, test } from '@playwright/test';
import { z } from 'zod';
import { type Combination, combinations, matrixPage, spots } from '../sites/matrix.ts';
import { seen } from '../sites/seen.ts';
import { pageCode } from '../stage/page-code.ts';

const pages = 8; // at once: each waits for its frames most of the time
const perPage = 75; // widgets

const pressedShape = z.array(
  z.object({
    id: z.number(), // of the widget; -1 for what stands in none
    line: z.string(),
    did: z.array(z.string()),
    refused: z.string().optional(),
  }),
);
type Pressed = z.infer<typeof pressedShape>[number];

const code = () =>
  pageCode(
    `import { isGone, resolve } from './references.ts';
   import { lines } from './tree.ts';
   import { page } from './act/document.ts';
   import { pressAndRelease } from './act/mouse.ts';
   import { foresee, ready } from './act/target.ts';
   import { upwards } from './act/dom.ts';
   import { partWith } from './act/words.ts';
   const names = ${JSON.stringify(spots)};
   const isIn = (ref, element) => Array.from(upwards(resolve(ref))).includes(element);
   const left = { button: 'left', count: 1, modifiers: [] };
   const at = (ref, words) => words === undefined ? ref : page.reference(partWith(page, resolve(ref), words));
   async function press(whole, words) {
     try {
       const ref = at(whole, words);
       foresee(page, ref);
       await pressAndRelease(await ready(page, ref, { uncovered: true, enabled: true, words }), left);
     } catch (why) {
       return why.code + ': ' + why.message;
     }
   }
   globalThis.told = () => lines(document).map(({ depth, text }) => ' '.repeat(depth) + text).join('\\n');
   globalThis.pressAll = async () => {
     const all = lines(document, { everything: true }).flatMap(({ text }) =>
       Array.from(text.matchAll(/[a-z0-9]+(?: "[^"]*")? \\[(e\\d+)\\]/g), ([line, ref]) => ({ line, ref, text })));
     const pressed = [];
     for (const { line, ref, text } of all) {
       const element = resolve(ref);
       if (isGone(element)) continue;
       const widget = Array.from(upwards(element)).find((one) => /^w\\d+$/.test(one.id));
       log.length = 0;
       const id = widget ? Number(widget.id.slice(1)) : -1;
       const refused = await press(ref);
       pressed.push({ id, line, did: log.slice(), refused });
       // Words in it that nothing says to be something else are pressed by themselves.
       for (const words of names.filter((name) => /" | "|\\w \\w/.test(text) && text.includes(name))) {
         if (all.some((other) => other.line !== line && isIn(other.ref, element) && other.line.includes(words)))
           continue;
         log.length = 0;
         const refused = await press(ref, words);
         const said = { id, line: words, refused, did: log.slice() };
         if (!refused?.startsWith('VALIDATION_ERROR')) pressed.push(said);
       }
     }
     return pressed;
   };`,
  );

async function pressAllOf(page: Page, script: string, some: readonly Combination[]): Promise<Pressed[]> {
  await page.goto('about:blank');
  await page.setContent(matrixPage(some));
  await page.evaluate(script);
  return pressedShape.parse(await page.evaluate('pressAll()'));
}

const said = ({ line, did, refused = '' }: Pressed): string => `${line} did ${did.join(' and ')}${refused}`;

// What is wrong with the lines of a widget, if anything.
function complaints({ id, ...what }: Combination, lines: readonly Pressed[]): string[] {
  const about = Object.values(what).join(', ');
  const wrong = lines.flatMap((one) => {
    const { line, did, refused } = one;
    const named = spots.filter((name) => line.includes(name));
    const own = named.length === 1 ? `${id} ${named[0]}` : `${id} row`;
    const isOwn = did.length === 0 || (did.length === 1 && did[0] === own);
    const isFair = refused === undefined || (refused.startsWith('TARGET_COVERED') && did.length === 0);
    return isOwn && isFair ? [] : [`${about}: ${said(one)}`];
  });
  for (const name of spots)
    if (!lines.some(({ line, did }) => line.includes(name) && did.join() === `${id} ${name}`))
      wrong.push(`${about}: no line presses ${name}: ${lines.map(said).join(', ')}`);
  return wrong;
}

test('each thing has a line that presses it, and none presses another', async ({ browser }) => {
  test.setTimeout(300_000);
  const script = await code();
  const parts = Array.from({ length: Math.ceil(combinations.length / perPage) }, (_, i) =>
    combinations.slice(i * perPage, (i + 1) * perPage),
  );
  const pressed: Pressed[] = [];
  const work = async () => {
    const page = await browser.newPage();
    for (let part = parts.pop(); part !== undefined; part = parts.pop())
      pressed.push(...(await pressAllOf(page, script, part)));
    await page.close();
  };
  await Promise.all(Array.from({ length: pages }, work));
  const ofWidget = (widget: number) => pressed.filter(({ id }) => id === widget);
  expect(ofWidget(-1)).toEqual([]);
  expect(combinations.flatMap((one) => complaints(one, ofWidget(one.id)))).toEqual([]);
  expect(combinations.length).toBeGreaterThan(2000);
});

test('what stands in a thing, and what has no words, has lines of its own', async ({ page }) => {
  const script = await code();
  for (const [what, html, lines] of seen) {
    await page.setContent(`<!doctype html><body>${html}`);
    await page.evaluate('globalThis.tabrelayReferences = undefined');
    await page.evaluate(script);
    expect.soft(await page.evaluate('told()'), what).toBe(lines);
  }
});
