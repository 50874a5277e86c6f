// Reads the documentation's site as people do. With SITE_SCREENSHOTS=FOLDER it takes pictures.

import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import path from 'node:path';
import { AxeBuilder } from '@axe-core/playwright';
import base, { expect, type Page } from '@playwright/test';
import { portOf } from '../stage/port.ts';

const dist = path.resolve(import.meta.dirname, '../../docs/site/dist');
const types: Record<string, string> = { html: 'text/html', js: 'text/javascript', css: 'text/css' };

const test = base.extend<object, { site: string }>({
  site: [
    // biome-ignore lint/correctness/noEmptyPattern: Playwright reads the names of a fixture's dependencies from it.
    async ({}, use) => {
      const server = createServer((request, response) => {
        const { pathname } = new URL(request.url ?? '/', 'http://site');
        const file = path.join(dist, pathname.endsWith('/') ? `${pathname}index.html` : pathname);
        readFile(file).then(
          (body) => {
            const type = types[path.extname(file).slice(1)];
            response.writeHead(200, type ? { 'content-type': type } : {}).end(body);
          },
          () => response.writeHead(404).end(),
        );
      });
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      await use(`http://127.0.0.1:${portOf(server.address())}`);
      server.close();
      server.closeAllConnections();
    },
    { scope: 'worker' },
  ],
});

/** Notes what a page asks of other hosts, what it does not get, and what goes wrong in it. */
function watch(page: Page, site: string): string[] {
  const trouble: string[] = [];
  page.on('request', (request) => {
    const url = request.url();
    if (!url.startsWith(`${site}/`) && !url.startsWith('data:')) trouble.push(`asked for ${url}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) trouble.push(`${response.status()} of ${response.url()}`);
  });
  page.on('pageerror', (error) => trouble.push(String(error)));
  page.on('console', (message) => {
    if (message.type() === 'error') trouble.push(message.text());
  });
  return trouble;
}

test('every page of the menu opens, with its pictures, and asks nobody else for anything', async ({
  page,
  site,
}) => {
  const trouble = watch(page, site);
  await page.goto(`${site}/`);
  const links = page.locator('.VPSidebar a');
  const addresses = await links.evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
  expect(addresses.length).toBeGreaterThan(35);
  for (const address of addresses) {
    await page.goto(site + address);
    await expect(page.locator('main h1')).toHaveCount(1);
    const broken = await page.locator('main img').evaluateAll(async (images) => {
      const sources = images.map((image) => image.getAttribute('src') ?? '');
      const answers = await Promise.all(sources.map((source) => fetch(source)));
      return sources.filter((_, at) => !answers[at]?.ok);
    });
    expect(broken, address).toEqual([]);
  }
  expect(trouble).toEqual([]);
});

test('search finds a failure code, and Enter opens it, by keyboard alone', async ({ page, site }) => {
  const trouble = watch(page, site);
  await page.goto(`${site}/`);
  const search = page.locator('.VPLocalSearchBox input');
  await expect(async () => {
    await page.keyboard.press('Control+k'); // nothing listens before the page's script has begun
    await expect(search).toBeFocused({ timeout: 1000 });
  }).toPass();
  await page.keyboard.type('TAB_OWNED');
  await expect(page.locator('.VPLocalSearchBox .result').first()).toContainText('TAB_OWNED');
  await page.keyboard.press('Enter');
  await expect(page).toHaveURL(/#tab_owned$/);
  await expect(page.locator('#tab_owned')).toBeInViewport();
  expect(trouble).toEqual([]);
});

const looks = [
  { width: 400, scheme: 'light' },
  { width: 400, scheme: 'dark' },
  { width: 1280, scheme: 'light' },
  { width: 1280, scheme: 'dark' },
] as const;

for (const { width, scheme } of looks) {
  test(`it can be read at ${width} pixels, ${scheme}`, async ({ page, site }) => {
    await page.setViewportSize({ width, height: 900 });
    await page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
    for (const name of ['index', 'getting-started', 'permissions']) {
      await page.goto(`${site}/${name}.html`);
      await expect(page.locator('html')).toHaveClass(scheme === 'dark' ? /dark/ : /^((?!dark).)*$/);
      expect(await page.evaluate(() => document.documentElement.scrollWidth), name).toBeLessThanOrEqual(
        width,
      );
      const found = await new AxeBuilder({ page }).include('main').analyze();
      expect(
        found.violations.map(({ id, nodes }) => `${id}: ${nodes[0]?.html}`),
        name,
      ).toEqual([]);
      const folder = process.env.SITE_SCREENSHOTS;
      if (folder) await page.screenshot({ path: path.join(folder, `${name}-${width}-${scheme}.png`) });
    }
  });
}

test('models find every page of the menu in llms.txt, and the text of all in one file', async ({
  page,
  site,
}) => {
  const index = await (await page.request.get(`${site}/llms.txt`)).text();
  const whole = await (await page.request.get(`${site}/llms-full.txt`)).text();
  await page.goto(`${site}/`);
  const menu = await page
    .locator('.VPSidebar a')
    .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
  const listed = [...index.matchAll(/^- \[.+?\]\((.+?)\)/gm)].map(([, address]) => address);
  expect(listed.map((address) => address?.replace(/\.html$/, '')).sort()).toEqual(
    menu.map((address) => address?.replace(/\.html$/, '')).sort(),
  );
  for (const address of listed) {
    const found = await page.request.get(`${site}${address}`);
    expect(found.status(), address).toBe(200);
  }
  expect(whole.match(/^<document file="/gm)).toHaveLength(listed.length + 1); // and the page where readers enter
  expect(whole).toContain('](docs/errors.md)');
});
