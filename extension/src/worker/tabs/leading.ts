// How much an agent is told of a page that a call navigated to, where it may not read that page's site.
import { type Border, originOf, type SiteState } from './sites.ts';

/** What holds for the page at an address. */
export type Judge = (url: string) => SiteState;

export const judgeOf =
  (border: Border): Judge =>
  (url) =>
    border.ahead(url);

/** The part of an address that an agent may be told: all of it, origin and path, or only the origin. */
export function toldAddress(judge: Judge, url: string): string {
  const state = judge(url);
  if (state === 'open') return url;
  const origin = originOf(url);
  if (state === 'off') return origin === '' ? '(an address that may not be told)' : origin;
  return url.replace(/[?#].*/s, '');
}

/** A page as far as it may be told. */
export interface Told {
  url: string;
  title?: string;
  note?: string;
}

const offNote = 'It leads to a site that is off: no more is said about it, and no tool runs there';
const askNote =
  'It leads to a site that you are not allowed on yet: take a browser__snapshot, and the person is asked';

export function toldPage(
  judge: Judge,
  { url = '', title = '' }: Pick<chrome.tabs.Tab, 'url' | 'title'>,
): Told {
  const state = judge(url);
  if (state === 'open') return { url, title };
  if (state === 'off') return { url: toldAddress(judge, url), note: offNote };
  return { url: toldAddress(judge, url), title, note: askNote };
}
