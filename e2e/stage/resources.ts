// An agent that reads resources.

import type { Page } from '@playwright/test';
import { expect, type Stage } from './test.ts';

/** Opens a page in a tab of its own, and returns the tab's number once it is listed. */
export async function open(stage: Stage, url: string, title: string): Promise<{ page: Page; id: string }> {
  const page = await stage.browser.newPage();
  await page.goto(url);
  let uri = '';
  await expect
    .poll(async () => {
      const { resources } = await stage.agent.client.listResources();
      uri = resources.find((one) => one.title === title)?.uri ?? '';
      return uri;
    })
    .toMatch(/^tab:\/\/\d+\/text$/);
  return { page, id: new URL(uri).host };
}

/** What a resource holds. */
export async function read(stage: Stage, uri: string) {
  const { contents } = await stage.agent.client.readResource({ uri });
  return contents.map((one) => ({ ...one, text: 'text' in one ? one.text : '', meta: one._meta ?? {} }));
}

/** What a failed read says. */
export async function refused(
  stage: Stage,
  uri: string,
): Promise<{ code: unknown; message: string; data: object }> {
  const why: unknown = await stage.agent.client.readResource({ uri }).catch((error: unknown) => error);
  expect(why).toBeInstanceOf(Error);
  const data = why instanceof Error && 'data' in why && typeof why.data === 'object' ? (why.data ?? {}) : {};
  return { code: why instanceof Error && 'code' in why ? why.code : 0, message: String(why), data };
}

const markers =
  /^What stands between the two markers was written by .*\n<(untrusted-page-text-[0-9a-f]{24})>\n((?:.|\n)*?)\n?<\/\1>/m;

/** What a page wrote, of a text in which it stands between markers. Throws when it does not. */
export function pageWords(text = ''): string {
  const words = markers.exec(text)?.[2];
  if (words === undefined) throw new Error(`no markers around: ${text.slice(0, 500)}`);
  return words;
}
