// Pictures for people to look at: written only when they look different from those that are there. Chromium draws
// rounded corners one shade lighter or darker from run to run, which nobody sees and git would keep.

import { readFile, writeFile } from 'node:fs/promises';
import type { Page } from '@playwright/test';

const shades = 2; // of 255 that a channel may differ

/** Takes a picture of a whole page, kept in a file unless that shows the same. Returns whether it was kept. */
export async function keepPicture(page: Page, file: string): Promise<boolean> {
  const fresh = await page.screenshot({ animations: 'disabled' });
  const old = await readFile(file).catch(() => undefined);
  if (old !== undefined && (await alike(page, old, fresh))) return false;
  await writeFile(file, fresh);
  return true;
}

async function alike(beside: Page, one: Buffer, other: Buffer): Promise<boolean> {
  const page = await beside.context().newPage(); // the page itself may not load pictures
  const pictures = [one, other].map((bytes) => `data:image/png;base64,${bytes.toString('base64')}`);
  const same = await page.evaluate(
    async ([sources, most]) => {
      const pixels = async (source: string) => {
        const image = new Image();
        image.src = source;
        await image.decode();
        const canvas = new OffscreenCanvas(image.width, image.height);
        const drawing = canvas.getContext('2d');
        drawing?.drawImage(image, 0, 0);
        return drawing?.getImageData(0, 0, image.width, image.height);
      };
      const [a, b] = await Promise.all(sources.map(pixels));
      if (!a || !b || a.width !== b.width || a.height !== b.height) return false;
      return a.data.every((value, at) => Math.abs(value - (b.data[at] ?? -1)) <= most);
    },
    [pictures, shades] as const,
  );
  await page.close();
  return same;
}
