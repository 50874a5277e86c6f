// Calls the Action API with the session of the person whose browser this is.

import { fetchFromPage, parseRetryAfterMs, ToolError } from '@tabrelay/plugin-sdk';
import { asText, type JsonObject, objectAt, objectsIn } from '@tabrelay/plugin-sdk/json';
import { failure } from './failures.ts';
import { findWiki, signInUrl, type Wiki } from './wiki.ts';

/** Parameters of a request; undefined and false leave a parameter out, true sends it empty, a list is joined. */
export type Params = Readonly<Record<string, string | number | boolean | readonly string[] | undefined>>;

/** A read. */
export async function get(params: Params, signal: AbortSignal): Promise<JsonObject> {
  const wiki = currentWiki();
  return call(wiki, new Request(`${wiki.api}?${encode(params)}`), signal);
}

/**
 * A write: it needs a signed-in person, and a token that proves the request comes from the wiki's own pages.
 * A token the wiki no longer accepts is fetched anew once; nothing was written before that.
 */
export async function write(params: Params, signal: AbortSignal, file?: File): Promise<JsonObject> {
  const wiki = currentWiki();
  const kind = params.action === 'watch' ? 'watch' : 'csrf';
  for (const last of [false, true]) {
    const fields = encode({ ...params, assert: 'user', token: await token(kind, signal) });
    const body = file === undefined ? fields : withFile(fields, file);
    try {
      return await call(wiki, new Request(wiki.api, { method: 'POST', body }), signal);
    } catch (error) {
      if (last || !(error instanceof ToolError) || error.code !== 'TOKEN_REFUSED') throw error;
    }
  }
  throw ToolError.internal('unreachable: the second attempt returns or throws');
}

function withFile(fields: URLSearchParams, file: File): FormData {
  const form = new FormData();
  for (const [name, value] of fields) form.set(name, value);
  form.set('file', file);
  return form;
}

async function token(kind: 'csrf' | 'watch', signal: AbortSignal): Promise<string> {
  const answer = await get({ action: 'query', meta: 'tokens', type: kind, assert: 'user' }, signal);
  return asText(objectAt(answer, 'query', 'tokens')[`${kind}token`]);
}

function currentWiki(): Wiki {
  const wiki = findWiki(document);
  if (wiki) return wiki;
  throw new ToolError(
    `The page at ${location.href} does not say where its API is. Open an article of the wiki in this tab and try again.`,
    'NOT_A_WIKI_PAGE',
    { category: 'not_found', outcome: 'not_executed' },
  );
}

async function call(wiki: Wiki, request: Request, signal: AbortSignal): Promise<JsonObject> {
  const response = await fetchFromPage(request, { signal });
  const answer = objectAt(await response.json());
  const error = objectsIn(answer.errors)[0];
  if (error === undefined) return answer;
  throw failure(
    { code: asText(error.code), text: asText(error.text) },
    { signInUrl: signInUrl(wiki), retryAfterMs: parseRetryAfterMs(response.headers.get('retry-after')) },
  );
}

function encode(params: Params): URLSearchParams {
  const encoded = new URLSearchParams({ format: 'json', formatversion: '2', errorformat: 'plaintext' });
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined || value === false) continue;
    encoded.set(name, value === true ? '' : typeof value === 'object' ? multiple(value) : String(value));
  }
  return encoded;
}

/** A list as the API wants it: joined by "|", or by U+001F with one in front where a value contains "|". */
const multiple = (values: readonly string[]): string =>
  values.some((value) => value.includes('|')) ? `\u001f${values.join('\u001f')}` : values.join('|');
