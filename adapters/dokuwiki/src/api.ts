// Opens pages of the wiki and sends its forms, as the person does. DokuWiki answers both in HTML; which action it ran
// in the end says what became of a request.

import {
  buildQueryString,
  type FormFields,
  fetchFromPage,
  fetchJSON,
  fetchText,
  lostSession,
  signedOut,
  type ToolError,
} from '@tabrelay/plugin-sdk';
import { parseHTML } from '@tabrelay/plugin-sdk/html';
import { invalidResponse } from '@tabrelay/plugin-sdk/json';
import { denied, switchedOff, tooLarge } from './failures.ts';
import { currentWiki, type Facts, factsOf, script, signIn } from './wiki.ts';

/** A page as the wiki answered it. */
export interface Shown extends Facts {
  page: Document;
  /** The server's clock, in seconds. */
  at: number;
}

/** Opens a page by an action. Fails when the wiki runs another one, except for those in `also`. */
export async function open(
  query: FormFields & { do: string },
  signal: AbortSignal,
  also: readonly string[] = [],
): Promise<Shown> {
  const shown = await exchange(new Request(`${script()}?${buildQueryString(query)}`), signal);
  if (shown.action === query.do || also.includes(shown.action)) return shown;
  throw refusal(shown, query.do);
}

/** Sends a form: a change. What came of it is for the caller to tell by the action. */
export async function submit(fields: FormFields, signal: AbortSignal): Promise<Shown> {
  const body = new URLSearchParams(buildQueryString(fields));
  const shown = await exchange(new Request(script(), { method: 'POST', body }), signal);
  if (shown.action === 'denied') throw denied(isSignedIn(shown.page));
  return shown;
}

/** What the wiki's script asks between pages: a piece of HTML, or JSON. */
export const ajax = (call: string, fields: FormFields, signal: AbortSignal): Promise<string> => {
  const body = new URLSearchParams(buildQueryString({ call, ...fields }));
  return fetchText(new URL('lib/exe/ajax.php', currentWiki()), {
    method: 'POST',
    body,
    signal,
    explain,
  });
};

/** A file goes to the wiki's script as multipart, and it answers JSON. */
export const upload = (body: FormData, signal: AbortSignal): Promise<unknown> =>
  fetchJSON(new URL('lib/exe/ajax.php', currentWiki()), { method: 'POST', body, signal, explain });

/** The page that manages files: opened, or sent something. */
export async function manage(
  method: 'GET' | 'POST',
  fields: FormFields,
  signal: AbortSignal,
): Promise<Document> {
  const url = new URL('lib/exe/mediamanager.php', currentWiki());
  const body = new URLSearchParams(buildQueryString(fields));
  if (method === 'GET') url.search = body.toString();
  const init = method === 'GET' ? {} : { method, body };
  return parseHTML(await fetchText(url, { ...init, signal, explain }));
}

/** The source of a page; undefined when the wiki has none to give, and shows a page in its place. */
export async function raw(fields: FormFields, signal: AbortSignal): Promise<string | undefined> {
  const query = buildQueryString({ do: 'export_raw', ...fields });
  const response = await fetchFromPage(`${script()}?${query}`, { signal, explain });
  const text = await response.text();
  // A page may be about the pages of a wiki: whether it is a source is told by its type.
  if (response.headers.get('content-type')?.startsWith('text/plain')) return text;
  const facts = factsOf(text);
  if (facts === undefined)
    throw (
      lostSession(text) ?? invalidResponse('it answered with neither a text nor a page of a wiki')
    );
  if (facts.action === 'denied') throw denied(isSignedIn(parseHTML(text)));
  return undefined;
}

/** The part of a page that the wiki always sends; what lacks it is another application's, or a template's own. */
export function partOf(page: Document, selector: string): Element {
  const part = page.querySelector(selector);
  if (part) return part;
  throw (
    lostSession(page.documentElement.outerHTML) ?? invalidResponse(`its page has no ${selector}`)
  );
}

async function exchange(request: Request, signal: AbortSignal): Promise<Shown> {
  const response = await fetchFromPage(request, { signal, explain });
  const html = await response.text();
  const facts = factsOf(html);
  const outcome = request.method === 'GET' ? undefined : 'unknown';
  if (facts === undefined)
    throw (
      lostSession(html, outcome) ??
      invalidResponse(`${request.url} is not a page of a DokuWiki`, outcome)
    );
  const at = Date.parse(response.headers.get('date') ?? '') || Date.now();
  return { ...facts, page: parseHTML(html), at: Math.floor(at / 1000) };
}

/** What only signed-in people have: for others the wiki shows the page itself. */
const personal = ['profile', 'subscribe'];

/** Why the wiki showed something other than what was asked for. */
function refusal({ action, page }: Pick<Shown, 'action' | 'page'>, asked: string): ToolError {
  const known = isSignedIn(page);
  if (action === 'denied') return denied(known);
  return !known && personal.includes(asked) ? signedOut(signIn) : switchedOff(asked, errors(page));
}

async function explain(response: Response): Promise<ToolError | undefined> {
  if (response.status === 413) return tooLarge();
  const html = await response.text();
  return factsOf(html)?.action === 'denied' ? denied(isSignedIn(parseHTML(html))) : undefined;
}

/** Only signed-in people have a token: it is empty in the forms of others. */
export const isSignedIn = (page: Document): boolean => tokenOf(page) !== '';

/** The token that shows the wiki that a request comes from its own pages; empty when nobody is signed in. */
export function tokenOf(page: Document): string {
  for (const field of page.querySelectorAll('input[name="sectok"]')) {
    const token = field.getAttribute('value') ?? '';
    if (token !== '') return token;
  }
  const link = page.querySelector('a[href*="sectok="]')?.getAttribute('href') ?? '';
  return new URL(link, location.href).searchParams.get('sectok') ?? '';
}

/**
 * Changes are made in the name of a person. A wiki without accounts takes them from anybody; one that has a page to
 * sign in on answers with that, which is AUTH_ERROR.
 */
export async function mustBeSignedIn(page: Document, signal: AbortSignal): Promise<void> {
  if (!isSignedIn(page)) await open({ do: 'login' }, signal, ['show']);
}

/** What the wiki tells the person went wrong, in their language. */
export const errors = (page: Document): string =>
  [...page.querySelectorAll('div.error')].map((one) => textOf(one)).join(' ');

export const textOf = (element: Element | null | undefined): string =>
  (element?.textContent ?? '').replaceAll(/\s+/g, ' ').trim();
