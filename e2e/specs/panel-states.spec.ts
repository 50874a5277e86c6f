// Every state of the side panel at the widths and in the colours people have, checked with axe. The page is the built
// one; the worker behind it is a script, because a state such as "loading" lasts a moment in the real one.
// UPDATE_SCREENSHOTS=1 takes a picture of every state into e2e/.cache/panel, which is not committed, and names those
// that look different from the last run's. Those that docs/panel.md shows are also taken into docs/panel.

import { mkdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';
import { type Canvas, drawing, type Look } from '../stage/drawn-panel.ts';
import { acts, type State, states } from '../stage/panel-states.ts';
import * as paths from '../stage/paths.ts';
import { keepPicture } from '../stage/pictures.ts';
import { expect } from '../stage/test.ts';

const documented = path.join(paths.repository, 'docs/panel');
const documents = readFileSync(`${documented}.md`, 'utf8');
const folder = path.join(paths.repository, 'e2e/.cache/panel');
const pictures = process.env.UPDATE_SCREENSHOTS === '1';
if (pictures) mkdirSync(folder, { recursive: true });
const smallest: Look = { width: 320, scheme: 'light' };
const corners: readonly Look[] = [smallest, { width: 480, scheme: 'dark' }];
const looks: readonly Look[] = pictures
  ? [...corners, { width: 320, scheme: 'dark' }, { width: 480, scheme: 'light' }]
  : corners;

/** Draws a state as it is checked: after what a person does first. */
async function drawState(canvas: Canvas, state: State, look: Look): Promise<Page> {
  await canvas.draw(state.script, look, state.hash);
  const { page } = canvas;
  await state.first?.(page);
  await expect(page.getByText(state.shows).first()).toBeVisible();
  await expect(page.locator('[aria-disabled=true]')).toHaveCount(0);
  return page;
}

async function picture(page: Page, name: string, width: number): Promise<void> {
  // As high as what it shows: what sticks to an edge would lie over the middle of a longer picture. What scrolls by
  // itself may grow with the page.
  for (let height = 0, higher = 640; higher > height; ) {
    height = higher;
    await page.setViewportSize({ width, height });
    higher = await page.evaluate(() => document.documentElement.scrollHeight);
  }
  await expect(page.locator('[aria-disabled=true]')).toHaveCount(0);
  if (await keepPicture(page, path.join(folder, name))) console.log(`looks different: ${name}`);
  if (documents.includes(`(panel/${name})`)) await keepPicture(page, path.join(documented, name));
}

/** What does not fit into the width of the panel: WCAG 1.4.10. What has an ellipsis is cut on purpose. */
function cutOff(page: Page): Promise<string[]> {
  return page.evaluate(() => {
    const { clientWidth, scrollWidth } = document.documentElement;
    const wide = scrollWidth > clientWidth ? [`the page is ${scrollWidth} wide`] : [];
    for (const one of document.querySelectorAll('button, a, input, select, summary, h1, h2, h3, p, pre')) {
      const { left, right, width } = one.getBoundingClientRect();
      if (width === 0 || one.closest('.unseen') !== null) continue;
      const reads = one instanceof HTMLInputElement || one instanceof HTMLSelectElement;
      const hides =
        !reads && getComputedStyle(one).textOverflow !== 'ellipsis' && one.scrollWidth > one.clientWidth;
      const scrolls = one.closest('.code') !== null;
      if (left < 0 || right > clientWidth || (hides && !scrolls && one.clientWidth > 0))
        wide.push(
          `${one.tagName} ${one.textContent?.trim().slice(0, 60)} (${left} to ${right}, ${one.scrollWidth})`,
        );
    }
    return wide;
  });
}

/** 160 is a panel of 320 pixels at 200 % of zoom; 280 is near the least width that Chrome gives a panel. */
const narrow = [160, 280, 320];

async function checkReflow(page: Page): Promise<void> {
  for (const width of narrow) {
    await page.setViewportSize({ width, height: 640 });
    expect(await cutOff(page), `at ${width} pixels`).toEqual([]);
    const stop = page.getByRole('button', { name: 'Stop everything' });
    const settings = page.getByRole('button', { name: 'Settings', exact: true });
    for (const button of [settings, ...((await stop.count()) > 0 ? [stop] : [])])
      await expect(button, `at ${width} pixels`).toBeInViewport({ ratio: 1 });
  }
}

for (const state of states) {
  drawing(`the panel, ${state.name}: axe finds nothing, nothing is cut off`, async ({ canvas }) => {
    const page = await drawState(canvas, state, smallest);
    for (const [at, look] of looks.entries()) {
      await page.setViewportSize({ width: look.width, height: 640 });
      await page.emulateMedia({ colorScheme: look.scheme });
      // A page without frames needs no second one to put the results of all frames together. To put axe into the page
      // takes longer than to run it, and it stays there: it is not put there again for the next look.
      const axe = new AxeBuilder(at === 0 ? { page } : { page, axeSource: ';' });
      const { violations } = await axe
        .setLegacyMode()
        .options({ resultTypes: ['violations'] })
        .analyze();
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
      if (/^question(-change)?$/.test(state.name)) {
        const high = await page.locator('.question').evaluate((card) => card.getBoundingClientRect().height);
        expect(high, 'a question takes a third of a panel of 480 px').toBeLessThanOrEqual(160);
      }
      if (state.name.replace('question-', '') in acts)
        // all of it is in view, so that it can be allowed
        await expect(page.getByRole('button', { name: 'Allow once' })).toBeVisible();
      expect(await cutOff(page), `at ${look.width} pixels`).toEqual([]);
      if (pictures) await picture(page, `${state.name}-${look.width}-${look.scheme}.png`, look.width);
    }
    await checkReflow(page);
  });
}

drawing('a state looks the same whatever was drawn before it', async ({ canvas }) => {
  // What a person did is what could stay: one state of each page.
  const used = [...new Map(states.filter(({ first }) => first).map((state) => [state.hash, state])).values()];
  const looked = new Map<string, string>();
  for (const state of [...used, ...used.toReversed()]) {
    const page = await drawState(canvas, state, smallest);
    const shown = await page.locator('body').ariaSnapshot();
    expect(shown, state.name).toBe(looked.get(state.name) ?? shown);
    looked.set(state.name, shown);
  }
});
