// A page with frames of sites about which a person has said different things, and frames in these.
import type { BrowserContext } from '@playwright/test';
import { z } from 'zod';
import type { Agent } from '../stage/agent.ts';
import type { Closing } from '../stage/closing.ts';
import { openSite } from './own-pages.ts';

export const states = ['off', 'ask', 'auto', 'excluded'] as const;
export type State = (typeof states)[number];

/** What a page has: words that nobody else has, and something of each kind that tools can be used on. */
const having = (words: string, more = '') => `<!doctype html><title>Title ${words}</title>
<style>html { background: ${colours[words.split('-')[1] ?? ''] ?? '#fff'} }</style>
<p>Words ${words}</p><button onclick="globalThis.touched = 'click'">Press ${words}</button>
<input aria-label="Field ${words}" oninput="globalThis.touched = 'input'">
<label>File ${words} <input type="file" onchange="globalThis.touched = 'file'"></label>
<script>localStorage.kept = 'Stored ${words}'; console.error('Logged ${words}');</script>${more}`;

/** The background of the frames of each state, which a picture has or has not. */
export const colours: Record<string, string> = {
  off: '#f00000',
  ask: '#00f000',
  auto: '#0000f0',
  excluded: '#f0f000',
};

export interface Framed {
  top: string; // address of the page
  origin: string;
  site: Record<State, string>; // origin of each foreign frame
  inner: Record<State, string>; // address of what it shows
  alone: Record<State, string>; // address of a page of that site without frames, which top's /to-STATE leads to
}

/** The addresses that the configuration leaves out. */
export const excludePatterns = ['*://*/excluded*'];

const frame = (title: string, url: string, size: string) =>
  `<iframe title="${title}" src="${url}" width="${size}" height="90"></iframe>`;

export async function openFramed(closing: Closing): Promise<Framed> {
  const pages: Record<string, string | URL> = {
    same: having('same-auto'),
    excluded: having('same-excluded'),
  };
  const origin = await openSite(closing, pages);
  const site: Record<State, string> = { off: '', ask: '', auto: '', excluded: '' };
  const inner = { ...site };
  const alone = { ...site };
  let frames = frame('Same', '/same', '300') + frame('Same excluded', '/excluded', '300');
  for (const state of states) {
    const path = state === 'excluded' ? 'excluded-inner' : 'inner';
    const nested = frame(`Nested ${state}`, `${origin}/nested-${state}`, '300');
    pages[`nested-${state}`] = having(`nested-${state}`);
    const own = state === 'excluded' ? 'excluded-alone' : 'alone';
    site[state] = await openSite(closing, {
      [path]: having(`foreign-${state}`, nested),
      [own]: having(`alone-${state}`),
    });
    inner[state] = `${site[state]}/${path}`;
    alone[state] = `${site[state]}/${own}`;
    pages[`to-${state}`] = new URL(`${alone[state]}?redirect`);
    frames += frame(`Foreign ${state}`, inner[state], '600');
  }
  pages.page = having('top', frames);
  return { top: `${origin}/page`, origin, site, inner, alone };
}

const Picture = z.object({
  content: z.array(z.object({ data: z.string().optional(), mimeType: z.string().optional() })),
});

/** A screenshot, as a data: URL. */
export async function picture(agent: Agent, args: Record<string, unknown>): Promise<string> {
  const result = await agent.client.callTool({ name: 'browser__screenshot', arguments: args });
  const image = Picture.parse(result).content.find(({ data }) => data !== undefined);
  return `data:${image?.mimeType};base64,${image?.data}`;
}

/** Which of the frames' colours a picture has. */
export async function coloursOf(browser: BrowserContext, url: string): Promise<Record<string, boolean>> {
  const page = await browser.newPage();
  const found = await page.evaluate(
    async ([source, wanted]) => {
      const image = new Image();
      image.src = source;
      await image.decode();
      const canvas = new OffscreenCanvas(image.width, image.height);
      const drawing = canvas.getContext('2d');
      drawing?.drawImage(image, 0, 0);
      const { data } = drawing?.getImageData(0, 0, image.width, image.height) ?? { data: [] };
      const has = (colour: string) => {
        const [r = 0, g = 0, b = 0] = [1, 3, 5].map((at) => Number.parseInt(colour.slice(at, at + 2), 16));
        let n = 0;
        for (let i = 0; i < data.length; i += 4) {
          const off = [r - (data[i] ?? 0), g - (data[i + 1] ?? 0), b - (data[i + 2] ?? 0)];
          if (off.every((one) => Math.abs(one) < 24)) n++;
        }
        return n > 20;
      };
      return Object.fromEntries(Object.entries(wanted).map(([state, colour]) => [state, has(colour)]));
    },
    [url, colours] as const,
  );
  await page.close();
  return found;
}
