// Records a first errand: an agent calls, the panel asks, a person allows it, the page changes. All of it is real;
// the panel, which Playwright cannot open beside a page, is drawn beside it afterwards.

import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, type Page } from '@playwright/test';
import gifenc from 'gifenc';
import { Closing } from '../stage/closing.ts';
import { repository } from '../stage/paths.ts';
import { openPanel, questions } from '../stage/side-panel.ts';
import { newcomer } from './newcomer.ts';

const height = 520;
const widths = { page: 560, panel: 380 };
const width = widths.page + widths.panel;
const file = path.join(repository, 'docs/first-errand.gif');

const closing = new Closing();
try {
  await writeFile(file, await record());
} finally {
  await closing.close();
}

async function record(): Promise<Uint8Array> {
  const { browser, page, agent } = await newcomer(closing);
  await page.setViewportSize({ width: widths.page, height });
  const panel = await openPanel(browser);
  await panel.setViewportSize({ width: widths.panel, height });
  const easel = await browser.newPage();
  const gif = gifenc.GIFEncoder();
  const picture = async (tab: Page) => {
    await tab.bringToFront(); // Chrome draws no other
    return tab.screenshot();
  };
  const frame = async (delay: number) => {
    const pixels = await draw(easel, [await picture(page), await picture(panel)]);
    const palette = gifenc.quantize(pixels, 256);
    gif.writeFrame(gifenc.applyPalette(pixels, palette), width, height, { palette, delay });
  };

  await expect(panel.getByRole('status')).toHaveText('Connected');
  await expect(panel.getByText(/attention$/)).toHaveCount(0);
  await frame(1500);
  const answer = agent.call('demo__counter_increment', { name: 'demo', by: 3 });
  const allow = questions(panel).getByRole('button', { name: 'Allow for this session' });
  await expect(allow).toBeEnabled();
  await frame(3000);
  await allow.hover();
  await frame(800);
  await allow.click();
  const { failed } = await answer;
  if (failed) throw new Error('the call failed');
  await expect(page.locator('#count')).toHaveText('3');
  await expect(questions(panel)).toHaveCount(0);
  await frame(3500);
  gif.finish();
  return gif.bytes();
}

/** The pixels of two pictures side by side. */
async function draw(easel: Page, pictures: Buffer[]): Promise<Uint8Array> {
  const sources = pictures.map((bytes) => `data:image/png;base64,${bytes.toString('base64')}`);
  const base64 = await easel.evaluate(
    async ([all, whole, tall]) => {
      const canvas = new OffscreenCanvas(whole, tall);
      const drawing = canvas.getContext('2d');
      if (drawing === null) throw new Error('there is nothing to draw on');
      let left = 0;
      for (const source of all) {
        const image = new Image();
        image.src = source;
        await image.decode();
        drawing.drawImage(image, left, 0);
        left += image.width;
      }
      drawing.fillStyle = '#868e98';
      drawing.fillRect(560, 0, 1, tall);
      let text = '';
      for (const byte of drawing.getImageData(0, 0, whole, tall).data) text += String.fromCharCode(byte);
      return btoa(text);
    },
    [sources, width, height] as const,
  );
  return new Uint8Array(Buffer.from(base64, 'base64'));
}
