// Where this site keeps its REST API, found in the page that is open.
// https://developer.wordpress.org/rest-api/using-the-rest-api/discovery/

import { ToolError } from '@tabrelay/plugin-sdk';

/** The REST API's address on the page's own origin: ends with "/", or carries the route in `rest_route`. */
export function findApi(page: Document): URL | undefined {
  const href = page.querySelector('link[rel="https://api.w.org/"]')?.getAttribute('href');
  const here = new URL(page.baseURI);
  const admin = /^(.*\/)wp-(?:admin\/|login\.php)/.exec(here.pathname)?.[1];
  // Screens of the administration have no such link. This address works under any setting of the permalinks.
  const found = href ?? (admin === undefined ? undefined : `${admin}index.php?rest_route=/`);
  return found === undefined ? undefined : onThisOrigin(found);
}

/** The site may name itself by another host than the tab has; the session's cookies belong to the tab's. */
export function onThisOrigin(address: string): URL {
  const { pathname, search } = new URL(address, location.href);
  return new URL(pathname + search, location.origin);
}

export function api(): URL {
  const found = findApi(document);
  if (found) return found;
  throw new ToolError(
    `The page at ${location.href} is not one of a WordPress site with a REST API. ` +
      "Open the site's front page or its administration in this tab and try again.",
    'NOT_A_WORDPRESS_PAGE',
    { category: 'not_found', outcome: 'not_executed' },
  );
}

/** The address of a route, such as `/wp/v2/posts`. */
export function route(root: URL, path: string): URL {
  const address = new URL(root);
  if (address.searchParams.has('rest_route')) address.searchParams.set('rest_route', path);
  else address.pathname += path.slice(1);
  return address;
}
