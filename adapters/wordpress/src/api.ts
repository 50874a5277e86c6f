// Calls the REST API with the session of the person whose browser this is.

import { buildQueryString, type FormFields, fetchJSON } from '@tabrelay/plugin-sdk';
import { asNumber, asText, type JsonObject, objectAt, objectsIn } from '@tabrelay/plugin-sdk/json';
import { failure } from './failures.ts';
import { forgetNonce, nonce, signedOut } from './session.ts';
import { api, route } from './site.ts';

interface Call {
  method?: 'GET' | 'POST' | 'DELETE';
  query?: FormFields;
  /** Sent as JSON, or as it is when it is a file. */
  body?: JsonObject | Blob;
  headers?: Record<string, string>;
}

interface Reply {
  body: unknown;
  /** Of a list: how many there are. */
  total: number;
}

/** One request. A nonce that the site no longer takes is asked for anew once; nothing was done before that. */
export async function call(path: string, options: Call, signal: AbortSignal): Promise<Reply> {
  for (const last of [false, true]) {
    const answer = await send(path, options, signal);
    const said = asNumber(answer.status);
    if (said < 400) return { body: answer.body, total: total(answer) };
    const error = objectAt(answer.body);
    const status = forbidden(error) ?? said;
    const code = asText(error.code);
    if (code === 'rest_cookie_invalid_nonce' && !last) {
      forgetNonce();
      continue;
    }
    if (status === 401) return signedOut();
    throw failure({ code, message: explained(error), status });
  }
  return signedOut();
}

export const get = async (path: string, query: FormFields, signal: AbortSignal): Promise<JsonObject> =>
  objectAt((await call(path, { query }, signal)).body);

export const post = async (path: string, body: JsonObject, signal: AbortSignal): Promise<JsonObject> =>
  objectAt((await call(path, { method: 'POST', body, query: { context: 'edit' } }, signal)).body);

/** One piece of a list, and where the next one begins. */
export async function list<T>(
  path: string,
  { limit, offset, ...query }: FormFields & { limit: number; offset: number },
  read: (item: JsonObject) => T,
  signal: AbortSignal,
) {
  const reply = await call(path, { query: { ...query, per_page: limit, offset } }, signal);
  const items = objectsIn(reply.body).map(read);
  const next = offset + items.length;
  return { total: reply.total, items, ...(next < reply.total ? { nextOffset: next } : {}) };
}

async function send(path: string, { method = 'GET', query, body, headers }: Call, signal: AbortSignal) {
  const address = route(api(), path);
  // In an envelope the status and the error's own code arrive together.
  const fields = new URLSearchParams(buildQueryString({ ...query, _envelope: 1 }));
  for (const [name, value] of fields) address.searchParams.append(name, value);
  const sent = new Headers(headers);
  const proof = await nonce();
  if (proof !== undefined) sent.set('x-wp-nonce', proof);
  const file = body instanceof Blob;
  // The site goes by the ending of a file's name, and still wants a type.
  if (body !== undefined) sent.set('content-type', file ? 'application/octet-stream' : 'application/json');
  const content = body === undefined ? {} : { body: file ? body : JSON.stringify(body) };
  return objectAt(await fetchJSON(address, { method, headers: sent, signal, ...content }));
}

function total(answer: JsonObject): number {
  const said = objectAt(answer, 'headers')['X-WP-Total'];
  return typeof said === 'string' ? Number(said) : asNumber(said);
}

/** An argument that only some may use is reported as invalid; inside it says 401 or 403. */
function forbidden(error: JsonObject): number | undefined {
  const details = Object.values(objectAt(error, 'data', 'details')).map((one) =>
    asNumber(objectAt(one, 'data').status),
  );
  return details.find((status) => status === 401 || status === 403);
}

/** The message, and which arguments are wrong. */
function explained(error: JsonObject): string {
  const wrong = Object.values(objectAt(error, 'data', 'params')).filter((one) => typeof one === 'string');
  return [asText(error.message), ...wrong].join(' ');
}
