// Calls the Action API with the session of the person whose browser this is.

import {
  fetchFromPage,
  parseRetryAfterMs,
  readJSON,
  ToolError,
  withFreshToken,
} from '@tabrelay/plugin-sdk';
import { type JsonReader, jsonReader } from '@tabrelay/plugin-sdk/json';
import { fitting } from '@tabrelay/plugin-sdk/paging';
import { failure } from './failures.ts';
import { findWiki, signInUrl, type Wiki } from './wiki.ts';

/** Parameters of a request; undefined and false leave a parameter out, true sends it empty, a list is joined. */
export type Params = Readonly<
  Record<string, string | number | boolean | readonly string[] | undefined>
>;

/** A read. */
export async function get(params: Params, signal: AbortSignal): Promise<JsonReader> {
  const wiki = currentWiki();
  return call(wiki, new Request(`${wiki.api}?${encode(params)}`), signal);
}

/**
 * A write: it needs a signed-in person, and a token that proves the request comes from the wiki's own pages.
 * A token the wiki no longer accepts is fetched anew once; nothing was written before that.
 */
export function write(params: Params, signal: AbortSignal, file?: File): Promise<JsonReader> {
  const wiki = currentWiki();
  const kind = params.action === 'watch' ? 'watch' : 'csrf';
  const fresh = {
    get: () => token(kind, signal),
    isRefused: (error: unknown) => error instanceof ToolError && error.code === 'TOKEN_REFUSED',
  };
  return withFreshToken(fresh, (proof) => {
    const fields = encode({ ...params, assert: 'user', token: proof });
    const body = file === undefined ? fields : withFile(fields, file);
    return call(wiki, new Request(wiki.api, { method: 'POST', body }), signal);
  });
}

/** A part of a list: how long at most, and from where on. */
export interface Part {
  limit: number;
  /** Where the API said that the part before ended. */
  after: string | undefined;
  maxBytes: number | undefined;
}

/**
 * Lists what the API continues by a word of its own. Of entries that do not fit into the answer fewer are asked for,
 * so that the word leads to the first one that is not in it. `module` is the prefix of the parameters.
 */
export async function list<Item, Answer>(
  module: string,
  { limit, after, maxBytes }: Part,
  params: Params,
  read: (answer: JsonReader) => Item[],
  answer: (items: Item[], rest: { next?: string }) => Answer,
  signal: AbortSignal,
): Promise<Answer> {
  const continued = `${module}continue`;
  for (let most = limit; ; ) {
    const reply = await get({ ...params, [`${module}limit`]: most, [continued]: after }, signal);
    const items = read(reply);
    const next = reply.maybe('continue', continued)?.string();
    if (next === undefined && !reply.flag('batchcomplete')) reply.string('continue', continued);
    const make = (count: number) => {
      const word = count < items.length ? (next ?? 'x'.repeat(60)) : next;
      return answer(items.slice(0, count), word === undefined ? {} : { next: word });
    };
    const kept = fitting(items.length, { maxBytes }, make);
    if (kept >= items.length) return make(kept);
    most = kept;
  }
}

function withFile(fields: URLSearchParams, file: File): FormData {
  const form = new FormData();
  for (const [name, value] of fields) form.set(name, value);
  form.set('file', file);
  return form;
}

async function token(kind: 'csrf' | 'watch', signal: AbortSignal): Promise<string> {
  const answer = await get({ action: 'query', meta: 'tokens', type: kind, assert: 'user' }, signal);
  return answer.string('query', 'tokens', `${kind}token`);
}

export function currentWiki(): Wiki {
  const wiki = findWiki(document);
  if (wiki) return wiki;
  throw new ToolError(
    `The page at ${location.href} does not say where its API is. ` +
      'Open an article of the wiki in this tab and try again.',
    'NOT_A_WIKI_PAGE',
    { category: 'not_found', outcome: 'not_executed' },
  );
}

async function call(wiki: Wiki, request: Request, signal: AbortSignal): Promise<JsonReader> {
  const { method } = request;
  const response = await fetchFromPage(request, { signal });
  const answer = jsonReader(
    await readJSON(response, { method }),
    method === 'GET' ? undefined : 'unknown',
  );
  const error = answer.maybe('errors')?.first();
  if (error === undefined) return answer;
  throw failure(
    { code: error.string('code'), text: error.string('text') },
    {
      signInUrl: signInUrl(wiki),
      retryAfterMs: parseRetryAfterMs(response.headers.get('retry-after')),
    },
  );
}

function encode(params: Params): URLSearchParams {
  const encoded = new URLSearchParams({
    format: 'json',
    formatversion: '2',
    errorformat: 'plaintext',
  });
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined || value === false) continue;
    encoded.set(
      name,
      value === true ? '' : typeof value === 'object' ? multiple(value) : String(value),
    );
  }
  return encoded;
}

/** A list as the API wants it: joined by "|", or by U+001F with one in front where a value contains "|". */
const multiple = (values: readonly string[]): string =>
  values.some((value) => value.includes('|')) ? `\u001f${values.join('\u001f')}` : values.join('|');
