// Where this wiki is installed, found in the page that is open, and what a page of it says about itself.

import { type SignIn, ToolError } from '@tabrelay/plugin-sdk';
import { isObject, parseJSON } from '@tabrelay/plugin-sdk/json';

/** Where the wiki's scripts are, on the page's own origin; undefined when the page is not one of a wiki. */
export function findWiki(page: Document): URL | undefined {
  const loaded = page.querySelector('link[href*="/lib/exe/"], script[src*="/lib/exe/js.php"]');
  const address = loaded?.getAttribute('href') ?? loaded?.getAttribute('src');
  if (!address) return undefined;
  const path = /^(.*\/)lib\/exe\//.exec(new URL(address, page.baseURI).pathname)?.[1];
  // A wiki may name itself by another host than the tab has; the session's cookies belong to the tab's.
  return path === undefined ? undefined : new URL(path, new URL(page.baseURI).origin);
}

export function currentWiki(): URL {
  const wiki = findWiki(document);
  if (wiki) return wiki;
  throw new ToolError(
    `The page at ${location.href} is not one of a DokuWiki. Open a page of the wiki in this tab and try again.`,
    'NOT_A_WIKI_PAGE',
    { category: 'not_found', outcome: 'not_executed' },
  );
}

export const script = (): URL => new URL('doku.php', currentWiki());

/** What a page was made by: the action that the wiki ran in the end, in whichever language and template. */
export interface Facts {
  action: string;
  id: string;
}

/** Reads `JSINFO`, which each page hands to the wiki's own scripts; undefined when it is no page of the wiki. */
export function factsOf(html: string): Facts | undefined {
  const start = html.indexOf('{', html.search(/\bJSINFO\s*=/));
  if (start < 1 || !/\bJSINFO\s*=\s*\{/.test(html)) return undefined;
  // Plugins put objects of their own into it: it ends at the first brace that makes it whole.
  for (let end = html.indexOf('}', start); end > 0; end = html.indexOf('}', end + 1)) {
    try {
      const info = parseJSON(html.slice(start, end + 1));
      if (!isObject(info) || typeof info.ACT !== 'string') return undefined;
      return { action: info.ACT, id: typeof info.id === 'string' ? info.id : '' };
    } catch {
      // That brace was an inner one.
    }
  }
  return undefined;
}

export const signIn: SignIn = {
  loginUrl: () => `${script().href}?do=login`,
  isLoginPage: (html) => factsOf(html)?.action === 'login',
};
