// Cookies of the site that a tab shows. Values of HttpOnly ones, which no script of the page can read, stay in Chrome.

import { isSecretName, masked } from '../../browser/dev/redact.ts';
import { isFlag, isNumber, isText } from '../../shared/guards.ts';
import { Ended, type ToolHandler, type ToolRun } from '../../worker/calls/tool-runner.ts';
import { permitted } from './needed.ts';
import { shownBy } from './site.ts';

type Cookie = chrome.cookies.Cookie;

const mostListed = 300;
const never = 'never shown: HttpOnly';

function about(cookie: Cookie): Record<string, unknown> {
  const { name, domain, path, secure, httpOnly, sameSite, expirationDate, partitionKey } = cookie;
  return {
    name,
    domain,
    path,
    ...(secure && { secure }),
    ...(httpOnly && { httpOnly }),
    sameSite,
    ...(expirationDate !== undefined && { expires: new Date(expirationDate * 1000).toISOString() }),
    ...(partitionKey !== undefined && { partitioned: true }),
  };
}

const needs = (action: string, what: string) =>
  Ended.as('VALIDATION_ERROR', `${action} needs ${what}`, { category: 'validation' });

const missing = (name: string) =>
  Ended.as('NOT_FOUND', `The site has no cookie ${JSON.stringify(name)}`, { category: 'not_found' });

async function found(
  url: string,
  storeId: string,
  { name, path, domain }: { name: string; path?: unknown; domain?: unknown },
): Promise<Cookie> {
  const all = await chrome.cookies.getAll({ url, storeId, name });
  const meant = all.filter(
    (one) => (!isText(path) || one.path === path) && (!isText(domain) || one.domain === domain),
  );
  const [cookie, other] = meant;
  if (cookie === undefined) throw missing(name);
  if (other !== undefined) {
    const which = meant.map((one) => `${one.domain} ${one.path}`).join(', ');
    throw needs('a name that several cookies have', `domain and path: ${which}`);
  }
  return cookie;
}

// A path such as //bank.example/ stays one: it never names another site.
function kept(url: string, path: string): string {
  const at = new URL(url);
  at.pathname = path;
  at.search = '';
  at.hash = '';
  return at.href;
}

async function set(run: ToolRun, url: string, storeId: string): Promise<unknown> {
  const { name, value, path = '/', seconds, sameSite, secure } = run.args;
  if (!isText(name) || !isText(value) || !isText(path)) throw needs('set', 'name and value');
  const at = kept(url, path);
  const before = (await chrome.cookies.getAll({ url: at, storeId, name })).find((one) => one.path === path);
  if (before?.httpOnly === true) {
    const hint = 'Remove it first, where the person wants that.';
    throw Ended.as('VALIDATION_ERROR', 'This cookie is HttpOnly: its site alone sets it', {
      category: 'validation',
      hint,
    });
  }
  const words = { lax: 'lax', strict: 'strict', none: 'no_restriction' } as const;
  const same =
    sameSite === 'lax' || sameSite === 'strict' || sameSite === 'none' ? words[sameSite] : undefined;
  await run.begins();
  try {
    const cookie = await chrome.cookies.set({
      url: at,
      storeId,
      name,
      value,
      path,
      ...(isNumber(seconds) && { expirationDate: Date.now() / 1000 + seconds }),
      ...(same !== undefined && { sameSite: same }),
      ...(isFlag(secure) && { secure }),
    });
    if (cookie === null || cookie === undefined) throw new Error('Chrome did not accept it');
    return { set: about(cookie) };
  } catch (why) {
    const message = `The cookie was not set: ${why instanceof Error ? why.message : String(why)}`;
    throw Ended.as('VALIDATION_ERROR', message, { category: 'validation' });
  }
}

export const cookies: ToolHandler = async (run) => {
  await permitted('cookies', 'cookies');
  const { action, name, path, domain } = run.args;
  const { href: url, origin: site } = await shownBy(run);
  const stores = await chrome.cookies.getAllCookieStores();
  const storeId = stores.find(({ tabIds }) => tabIds.includes(run.tabId))?.id ?? '0';
  if (action === 'list') {
    const all = await chrome.cookies.getAll({ url, storeId });
    const listed = all.slice(0, mostListed).map((cookie) => ({
      ...about(cookie),
      value: cookie.httpOnly ? never : masked(cookie.value),
      ...(isSecretName(cookie.name) && { secret: true }),
    }));
    return { site, cookies: listed, total: all.length };
  }
  if (action === 'set') return set(run, url, storeId);
  if (!isText(name)) throw needs(String(action), 'name');
  const cookie = await found(url, storeId, { name, path, domain });
  if (action === 'get') return { ...about(cookie), value: cookie.httpOnly ? never : cookie.value };
  await run.begins();
  await chrome.cookies.remove({ url: kept(url, cookie.path), storeId, name });
  const left = await chrome.cookies.getAll({ url: kept(url, cookie.path), storeId, name });
  if (left.some((one) => one.path === cookie.path && one.domain === cookie.domain))
    throw Ended.as('VALIDATION_ERROR', `The site still has the cookie ${JSON.stringify(name)}`, {
      category: 'validation',
      outcome: 'executed',
      hint: 'A policy may keep it, or the page has set it again: list the cookies.',
    });
  return { removed: about(cookie) };
};
