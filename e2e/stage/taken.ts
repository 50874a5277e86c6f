// Pictures that an agent takes, and what is drawn in them.

import type { Page } from '@playwright/test';
import { z } from 'zod';
import type { Agent } from './agent.ts';

const Content = z
  .array(
    z.object({
      type: z.string(),
      data: z.string().optional(),
      mimeType: z.string().optional(),
      text: z.string().optional(),
    }),
  )
  .min(1);

export interface Taken {
  url: string; // of its data
  note: string;
}

/** A picture that the agent takes; throws with the failure's text where there is none. */
export async function takePicture(agent: Agent, args: Record<string, unknown> = {}): Promise<Taken> {
  const { content } = await agent.client.callTool({ name: 'browser__screenshot', arguments: args });
  const [image, note] = Content.parse(content);
  if (image?.data === undefined) throw new Error(image?.text);
  return { url: `data:${image.mimeType};base64,${image.data}`, note: note?.text ?? '' };
}

export interface Area {
  x: number;
  y: number;
  width: number;
  height: number;
}

const reach = 40; // pixels around an area

/** How many pixels of two pictures differ in each area, and around it; decoded beside the page, not in it. */
export async function differences(
  page: Page,
  [one, other]: readonly [Taken, Taken],
  areas: readonly Area[],
): Promise<{ inside: number; around: number }[]> {
  return page.evaluate(
    async ([urls, places, by]) => {
      const decode = async (url: string) => {
        const image = await createImageBitmap(await (await fetch(url)).blob());
        const canvas = new OffscreenCanvas(image.width, image.height);
        const pen = canvas.getContext('2d');
        pen?.drawImage(image, 0, 0);
        return pen?.getImageData(0, 0, image.width, image.height) ?? new ImageData(1, 1);
      };
      const [a, b] = await Promise.all([decode(urls[0]), decode(urls[1])]);
      const differs = (x: number, y: number) => {
        const at = (y * a.width + x) * 4;
        return [0, 1, 2].some((i) => Math.abs((a.data[at + i] ?? 0) - (b.data[at + i] ?? 0)) > 60);
      };
      return places.map(({ x, y, width, height }) => {
        let [inside, around] = [0, 0];
        for (let row = Math.max(0, Math.floor(y - by)); row < Math.min(a.height, y + height + by); row++)
          for (
            let column = Math.max(0, Math.floor(x - by));
            column < Math.min(a.width, x + width + by);
            column++
          ) {
            if (!differs(column, row)) continue;
            const isIn = column > x && column < x + width - 1 && row > y && row < y + height - 1;
            if (isIn) inside++;
            else around++;
          }
        return { inside, around };
      });
    },
    [[one.url, other.url], areas, reach] as const,
  );
}

/** How large a picture is. */
export const sizeOf = (page: Page, { url }: Taken): Promise<{ width: number; height: number }> =>
  page.evaluate(async (source) => {
    const { width, height } = await createImageBitmap(await (await fetch(source)).blob());
    return { width, height };
  }, url);
