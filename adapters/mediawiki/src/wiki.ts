// Where this wiki keeps its API, found in the page that is open.

export interface Wiki {
  /** Address of api.php, on the page's own origin. */
  api: string;
  /** Address of index.php, on the page's own origin. */
  index: string;
}

/** The wiki of the open page, or undefined when the page is not one of a MediaWiki. */
export function findWiki(page: Document): Wiki | undefined {
  const path = fromDiscoveryLink(page) ?? fromPageConfig(page);
  if (path === undefined) return undefined;
  // The link may name another host (the desktop site on a mobile page). The session's cookies, and the rule that
  // a tool acts on the tab it was aimed at, belong to the page's own origin.
  const origin = new URL(page.baseURI).origin;
  return { api: `${origin}${path}api.php`, index: `${origin}${path}index.php` };
}

/** From `<link rel="EditURI" href="https://…/w/api.php?action=rsd">`, which every wiki sends unless told not to. */
function fromDiscoveryLink(page: Document): string | undefined {
  const href = page.querySelector('link[rel="EditURI"]')?.getAttribute('href');
  if (!href) return undefined;
  return /^(.*\/)api\.php$/.exec(new URL(href, page.baseURI).pathname)?.[1];
}

/** From `"wgScriptPath":"/w"` in the configuration that the page's first script sets. */
function fromPageConfig(page: Document): string | undefined {
  for (const script of page.querySelectorAll('head script:not([src])')) {
    const found = /"wgScriptPath":"([^"\\]*)"/.exec(script.textContent ?? '')?.[1];
    if (found !== undefined) return `${found}/`;
  }
  return undefined;
}

/** Where a person signs in. The name of the special page is the canonical one, which every language accepts. */
export const signInUrl = (wiki: Wiki): string => `${wiki.index}?title=Special:UserLogin`;
