// Right to left, downwards, zoomed, turned: whatever can be scrolled to is told, and the place that would be pressed is
// the thing's own. Each is clicked there with a real mouse, and the page says what its event met.
import { type ElementHandle, expect, type Page, test } from '@playwright/test';
import { boxes, type Case, framed, pageOf, snapping, wide } from '../sites/geometry.ts';
import { pageCode } from '../stage/page-code.ts';

const code = () =>
  pageCode(
    `import { page } from './act/document.ts';
   import { pointAround } from './act/frames.ts';
   import { ready } from './act/target.ts';
   import { lines } from './tree.ts';
   globalThis.told = () => lines(document, { everything: true }).map(({ text }) => text);
   globalThis.where = async (ref) => {
     const { x, y } = await ready(page, ref, { uncovered: true, enabled: true });
     return window.frameElement === null ? { x, y } : pointAround(window.frameElement, { x, y });
   };`,
  );

type Inside = Pick<Page, 'evaluate'>;

async function refs(inside: Inside): Promise<Map<string, string>> {
  const lines: string[] = await inside.evaluate('told()');
  return new Map(
    lines.flatMap((line) =>
      Array.from(
        line.matchAll(/button "([^"]+)" \[(e\d+)\]/g),
        ([, name = '', ref = '']) => [name, ref] as const,
      ),
    ),
  );
}

/** What is wrong with the buttons of some cases: not told, not reached, or another one was hit. */
async function wrongIn(page: Page, inside: Inside, cases: readonly Case[]): Promise<string[]> {
  const found = await refs(inside);
  const wrong: string[] = [];
  for (const { what, buttons, clicked } of cases) {
    const missing = buttons.filter((name) => !found.has(name));
    if (missing.length > 0) wrong.push(`${what}: ${missing.join(', ')} not told`);
    for (const name of clicked.filter((one) => found.has(one))) {
      const hit = await click(page, inside, found.get(name) ?? '');
      if (hit !== name) wrong.push(`${what}: ${name}: ${hit}`);
    }
  }
  return wrong;
}

async function click(page: Page, inside: Inside, ref: string): Promise<string> {
  const where: unknown = await inside.evaluate(`where('${ref}').catch((why) => why.message)`);
  if (typeof where !== 'object' || where === null) return String(where);
  await inside.evaluate('globalThis.met = "nothing"');
  await page.mouse.click(Number(Reflect.get(where, 'x')), Number(Reflect.get(where, 'y')));
  return String(await inside.evaluate('globalThis.met'));
}

for (const zoom of [1, 2])
  for (const deviceScaleFactor of [1, 2])
    test(`boxes that scroll, zoom ${zoom}, pixel ratio ${deviceScaleFactor}`, async ({ browser }) => {
      const page = await browser.newPage({ deviceScaleFactor, viewport: { width: 900, height: 700 } });
      const cases = boxes(zoom + 2 * deviceScaleFactor);
      await page.setContent(pageOf(cases, zoom));
      await page.evaluate(await code());
      expect(cases.length).toBe(32);
      expect(await wrongIn(page, page, cases)).toEqual([]);
      await page.close();
    });

test('pages that go on to the left, to the right and upwards', async ({ browser }) => {
  const page = await browser.newPage({ viewport: { width: 900, height: 700 } });
  const script = await code();
  const wrong: string[] = [];
  for (const one of [...wide, ...snapping]) {
    await page.setContent(pageOf([one], 1, one.root));
    await page.evaluate(script);
    wrong.push(...(await wrongIn(page, page, [one])));
  }
  expect(wrong).toEqual([]);
  await page.close();
});

test('frames that are turned, scaled and zoomed', async ({ browser }) => {
  const page = await browser.newPage({ viewport: { width: 900, height: 700 } });
  const script = await code();
  const wrong: string[] = [];
  for (const { what, html, inner } of framed) {
    await page.setContent(html);
    const element: ElementHandle | null = await page.$('iframe');
    const frame = await element?.contentFrame();
    if (frame === null || frame === undefined) throw new Error(`${what}: no frame`);
    await frame.setContent(pageOf([inner], 1));
    await frame.evaluate(script);
    wrong.push(...(await wrongIn(page, frame, [inner])).map((one) => `${what}: ${one}`));
  }
  expect(wrong).toEqual([]);
  await page.close();
});

test('what nobody can scroll to is not told, in either direction', async ({ browser }) => {
  const page = await browser.newPage();
  const script = await code();
  const away = (direction: string, side: string) =>
    `<!doctype html><body dir=${direction}><p>seen</p><p style="position:absolute;${side}:-9999px">SECRET</p>`;
  for (const [direction, side] of [
    ['ltr', 'left'],
    ['rtl', 'right'],
    ['ltr', 'top'],
    ['rtl', 'top'],
  ] as const) {
    await page.setContent(away(direction, side));
    await page.evaluate(script);
    const lines: string[] = await page.evaluate('told()');
    expect(lines.join('\n'), `${direction} ${side}`).toBe('"seen"');
  }
  await page.close();
});
