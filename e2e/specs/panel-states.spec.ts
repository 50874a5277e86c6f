// Every state of the side panel at the widths and in the colours people have, checked with axe. The page is the built
// one; the worker behind it is a script, because a state such as "loading" lasts a moment in the real one.
// UPDATE_SCREENSHOTS=1 takes the pictures of docs/panel anew.

import path from 'node:path';
import AxeBuilder from '@axe-core/playwright';
import { chromium } from '@playwright/test';
import { drawPanel, type Look } from '../stage/drawn-panel.ts';
import { states } from '../stage/panel-states.ts';
import * as paths from '../stage/paths.ts';
import { expect, test } from '../stage/test.ts';

const folder = path.join(paths.repository, 'docs/panel');
const looks: readonly Look[] = [
  { width: 320, scheme: 'light' },
  { width: 320, scheme: 'dark' },
  { width: 480, scheme: 'light' },
  { width: 480, scheme: 'dark' },
];

for (const state of states) {
  test(`${state.name}: drawn at each width, in light and dark, and axe finds nothing`, async ({
    closing,
  }) => {
    const browser = await chromium.launch({ executablePath: paths.browser, args: ['--no-sandbox'] });
    closing.defer(() => browser.close());
    for (const look of looks) {
      const page = await drawPanel(browser, state.script, look, state.hash, closing);
      await state.first?.(page);
      await expect(page.getByText(state.shows).first()).toBeVisible();
      await expect(page.locator('[aria-disabled=true]')).toHaveCount(0);
      const { violations } = await new AxeBuilder({ page }).analyze();
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(wide, 'nothing scrolls sideways').toBeLessThanOrEqual(look.width);
      if (process.env.UPDATE_SCREENSHOTS === '1') {
        const name = `${state.name}-${look.width}-${look.scheme}.png`;
        await page.screenshot({ path: path.join(folder, name), fullPage: true, animations: 'disabled' });
      }
      await page.context().close();
    }
  });
}
