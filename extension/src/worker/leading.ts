// Where a call leads: what an agent is told of a page on whose site it is not allowed.
import { urlAllowed } from '../page/patterns.ts';
import type { CallFrame, PluginInfo } from '../protocol/frames.generated.ts';

export type Sites = NonNullable<CallFrame['sites']>;
type SiteState = Sites['rest'];
type Pages = Pick<PluginInfo, 'matches' | 'excludes'>;

/** What holds for the page at an address. */
export type Judge = (url: string) => SiteState;

/** The origin of a web page, or of the page that made what a blob: address shows; empty: it has none. */
export function originOf(url: string): string {
  const made = url.replace(/^blob:/, '');
  return /^https?:/.test(made) && URL.canParse(made) ? new URL(made).origin : '';
}

export function judging(sites: Sites, pages: Pages): Judge {
  return (url) => {
    const origin = originOf(url);
    if (origin === '') return url.startsWith('about:') ? 'open' : sites.rest;
    if (/^https?:/.test(url) && !urlAllowed(url, pages.matches, pages.excludes)) return 'off';
    return (Object.hasOwn(sites.origins, origin) ? sites.origins[origin] : undefined) ?? sites.rest;
  };
}

/** That of a call. A relay that says nothing of sites has decided about the origin of the call alone. */
export const judgeOf = ({ sites, origin = '' }: Pick<CallFrame, 'sites' | 'origin'>, plugin: Pages): Judge =>
  judging(sites ?? { rest: 'ask', origins: { [origin]: 'open' } }, plugin);

/** An address as far as it may be told: whole, its origin and path, or its origin. */
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

const offNote = 'It leads to a site that is off: nothing more of it is told, and no tool runs there';
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
