// What a look at a page costs in tokens of o200k: the first look, the whole page with what a budget leaves for later, a
// look where nothing changed, and one where one text did.

import type { Page } from '@playwright/test';
import { largePages } from '../../sites/large.ts';
import { openSite } from '../../sites/own-pages.ts';
import { Closing } from '../../stage/closing.ts';
import type { Answer } from './driver.ts';
import { openGround, type Server, type SignIn } from './ground.ts';
import { inApplications } from './in-applications.ts';
import { TabrelayDriver } from './tabrelay.ts';

export interface Looked {
  name: string;
  /** Opens the site anew, and says how a person comes to the page. */
  open(closing: Closing): Promise<SignIn>;
}

const paragraph = (n: number): string =>
  `<p>Paragraph ${n} tells of <a href="/owl/${n}">owls</a> and of <em>foxes</em>, of what they eat and where they sleep,
and of the people who have watched them at night since the year ${1500 + n}.</p>`;

const article = `<!doctype html><title>Owls</title><main><h1>Owls</h1>${Array.from(
  { length: 80 },
  (_, n) => `<h2>Part ${n}</h2>${[0, 1, 2, 3, 4].map((m) => paragraph(5 * n + m)).join('')}`,
).join('')}</main>`;

const ownPages: readonly Looked[] = Object.entries({ ...largePages, article }).map(([name, html]) => ({
  name: name === 'article' ? 'an article of 12,000 words' : `${name}, 12,000 elements`,
  open: async (closing) => {
    const site = await openSite(closing, { page: html });
    return async (page) => void (await page.goto(`${site}/page`));
  },
}));

const applications: readonly Looked[] = inApplications.map(({ name, open }) => ({
  name: `${name.split(':')[0]}, as one signs in`,
  open: async (closing) => (await open(closing)).signIn,
}));

export const lookedAt: readonly Looked[] = [...applications, ...ownPages];

/** One text that is on the screen becomes another one. */
async function changeOneText(page: Page): Promise<void> {
  const changed = await page.evaluate(() => {
    const texts = document.querySelectorAll('td, li, p, a, span, h1, h2');
    const shown = Array.from(texts).find((element) => {
      const { top, bottom, width } = element.getBoundingClientRect();
      const alone = element.childElementCount === 0 && element.textContent.trim() !== '';
      return alone && width > 0 && bottom > 0 && top < innerHeight;
    });
    if (shown !== undefined) shown.textContent = 'Somebody else wrote this';
    return shown !== undefined;
  });
  if (!changed) throw new Error('no text of the page could be changed');
}

/** Tokens of a first look, of the whole page, of a look where nothing changed, and of one after one text did. */
export async function measure(looked: Looked, server: Server): Promise<number[]> {
  const closing = new Closing();
  try {
    const { driver, asPerson } = await openGround(server, await looked.open(closing), closing);
    const cost = async (look: () => Promise<Answer>): Promise<number> => {
      const before = driver.tokens;
      const answer = await look();
      if (answer.failed) throw new Error(answer.text);
      return driver.tokens - before;
    };
    const first = await cost(() => driver.look());
    const whole = driver instanceof TabrelayDriver ? await cost(() => driver.lookAtAll()) : first;
    const unchanged = await cost(() => driver.look());
    await asPerson(changeOneText);
    return [first, whole, unchanged, await cost(() => driver.look())];
  } finally {
    await closing.close();
  }
}
