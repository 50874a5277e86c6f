// The pictures that stores ask for: an agent, a relay, the extension and its panel at work on the demo site. All of it
// is real; the panel, which Playwright cannot open beside a page, is put beside it. STORE_EDITION is the edition shown.

import { mkdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { type BrowserContext, expect, type Page } from '@playwright/test';
import { Closing } from '../stage/closing.ts';
import { repository } from '../stage/paths.ts';
import { openPanel, questions } from '../stage/side-panel.ts';
import type { Stage } from '../stage/test.ts';
import { newcomer } from './newcomer.ts';

const folder = path.join(repository, 'packaging/dist/store/pictures');
const headline = 96; // its height
const widths = { page: 860, panel: 420 };
const size = { width: widths.page + widths.panel, height: 800 };

const styles = `body{margin:0;font:600 26px system-ui,sans-serif;background:#17324d;color:#fff}
  h1{margin:0;height:${headline}px;display:flex;align-items:center;padding:0 32px;font:inherit}
  main{display:flex;height:${size.height - headline}px}
  img{display:block}
  img+img{box-shadow:-1px 0 0 #868e98}`;

const closing = new Closing();
try {
  await mkdir(folder, { recursive: true });
  await takeAll();
} finally {
  await closing.close();
}

async function takeAll(): Promise<void> {
  const stage = await newcomer(closing);
  const { browser, page } = stage;
  const panel = await openPanel(browser);
  await expect(panel.getByRole('status')).toHaveText('Connected');
  const easel = await browser.newPage();
  const take = async (name: string, words: string) => {
    await expect(panel.getByText(/attention$/)).toHaveCount(0);
    await compose(easel, path.join(folder, `${name}.png`), words, await shots(stage, panel));
  };
  for (const one of [page, panel]) {
    await one.setViewportSize({
      width: one === page ? widths.page : widths.panel,
      height: size.height - headline,
    });
    // Not by a style: the panel's policy takes none from outside of its package.
    await (await browser.newCDPSession(one)).send('Emulation.setScrollbarsHidden', { hidden: true });
  }

  await ask(stage, panel);
  await panel.getByRole('button', { name: 'No, thanks' }).click(); // notifications
  await take('1-question', 'Before an agent changes something, you see what, and decide');
  await questions(panel).getByRole('button', { name: 'Allow for this session' }).click();
  await expect(page.locator('#count')).toHaveText('3');
  await expect(questions(panel)).toHaveCount(0);
  await take('2-done', 'It runs in the page that you have open, with your own session');
  await panel.getByRole('button', { name: 'Clear' }).click();
  for (const [name, title, words] of [
    ['3-plugins', 'Plugins', 'Tools for the applications you use, and for every other page'],
    ['4-log', 'Log', 'What agents did, and what you decided, is on your computer, for you to look at'],
  ] as const) {
    await panel.getByRole('tab', { name: title }).click();
    await expect(panel.getByRole('tabpanel')).toBeVisible();
    await take(name, words);
  }
  await panel.getByRole('tab', { name: 'Now' }).click();
  await panel.getByRole('button', { name: 'Stop everything' }).click();
  await expect(panel.getByRole('heading', { name: 'Paused' })).toBeVisible();
  await take('5-stop', 'One button stops every agent, at once');
  await drawTile(browser);
}

/** Has an agent raise the counter by three, and returns when the panel asks about it. */
async function ask({ agent }: Stage, panel: Page): Promise<void> {
  await agent.call('demo__hello');
  agent.call('demo__counter_increment', { name: 'demo', by: 3 }).catch(() => {}); // the page shows how it ended
  await expect(questions(panel).getByRole('button', { name: 'Allow for this session' })).toBeEnabled();
}

async function shots({ page }: Stage, panel: Page): Promise<string[]> {
  const taken: string[] = [];
  for (const tab of [page, panel]) {
    await tab.bringToFront(); // Chrome draws no other
    taken.push((await tab.screenshot()).toString('base64'));
  }
  return taken;
}

/** Draws two pictures beside each other, under a sentence. */
async function compose(easel: Page, file: string, words: string, pictures: string[]): Promise<void> {
  await easel.setViewportSize(size);
  const images = pictures.map((base64) => `<img src="data:image/png;base64,${base64}" alt="">`).join('');
  await easel.setContent(`<style>${styles}</style><h1>${words}</h1><main>${images}</main>`);
  await finish(easel, file);
}

/** The icon as lines, so that it is sharp at any size. */
async function icon(): Promise<string> {
  const bytes = await readFile(path.join(repository, 'extension/icons/icon.svg'));
  return `data:image/svg+xml;base64,${bytes.toString('base64')}`;
}

/** The promotional tile, and the logo that Edge wants. */
async function drawTile(browser: BrowserContext): Promise<void> {
  const easel = await browser.newPage();
  await easel.setViewportSize({ width: 440, height: 280 });
  await easel.setContent(`<style>body{margin:0;height:280px;display:grid;grid-template-columns:128px 1fr;gap:28px;
    align-items:center;padding:0 32px;box-sizing:border-box;background:#17324d;color:#fff;
    font-family:system-ui,sans-serif}
    b{font-size:40px;display:block;margin-bottom:10px}p{margin:0;font-size:20px;line-height:1.35}</style>
    <img src="${await icon()}" alt="">
    <div><b>tabrelay</b><p>Your agent, in the web applications you are signed in to</p></div>`);
  await finish(easel, path.join(folder, 'tile.png'));
  await easel.setViewportSize({ width: 300, height: 300 });
  await easel.setContent(
    `<style>body{margin:0}img{width:300px;height:300px}</style><img src="${await icon()}" alt="">`,
  );
  await finish(easel, path.join(folder, 'logo.png'));
}

/** Takes the picture when its images are there, and refuses one in which something does not fit. */
async function finish(easel: Page, file: string): Promise<void> {
  await easel.bringToFront();
  await easel.evaluate(() => Promise.all(Array.from(document.images, (image) => image.decode())));
  const over = await easel.evaluate(() => {
    const { scrollWidth, scrollHeight, clientWidth, clientHeight } = document.documentElement;
    return scrollWidth > clientWidth || scrollHeight > clientHeight;
  });
  if (over) throw new Error(`${file}: what it shows is larger than the picture`);
  await easel.screenshot({ path: file });
}
