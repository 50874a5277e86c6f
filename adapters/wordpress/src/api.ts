// Calls the REST API with the session of the person whose browser this is.

import {
  buildQueryString,
  type FormFields,
  fetchJSON,
  ToolError,
  withFreshToken,
} from '@tabrelay/plugin-sdk';
import { isObject, type JsonObject, type JsonReader, jsonReader } from '@tabrelay/plugin-sdk/json';
import { listPart } from '@tabrelay/plugin-sdk/paging';
import { failure } from './failures.ts';
import { forgetNonce, lostSession, nonce } from './session.ts';
import { api, route } from './site.ts';

interface Call {
  method?: 'GET' | 'POST' | 'DELETE';
  query?: FormFields;
  /** Sent as JSON, or as it is when it is a file. */
  body?: JsonObject | Blob;
  headers?: Record<string, string>;
}

const fresh = {
  get: nonce,
  forget: forgetNonce,
  isRefused: (error: unknown) => error instanceof ToolError && error.code === nonceRefused,
};

const nonceRefused = 'NONCE_REFUSED';

/**
 * One request; answers status, headers and body. A nonce that the site no longer takes is asked for anew once;
 * nothing was done before that.
 */
export async function call(path: string, options: Call, signal: AbortSignal): Promise<JsonReader> {
  try {
    return await withFreshToken(fresh, (proof) => attempt(path, options, proof, signal));
  } catch (error) {
    throw fresh.isRefused(error) ? await lostSession() : error;
  }
}

async function attempt(
  path: string,
  options: Call,
  proof: string | undefined,
  signal: AbortSignal,
) {
  const answer = await send(path, options, proof, signal);
  const said = answer.number('status');
  if (said < 400) return answer;
  const error = answer.at('body');
  const status = forbidden(error) ?? said;
  const code = error.string('code');
  if (code === 'rest_cookie_invalid_nonce')
    throw ToolError.auth(error.string('message'), nonceRefused);
  if (status === 401) throw await lostSession();
  throw failure({ code, message: explained(error), status });
}

export const get = async (
  path: string,
  query: FormFields,
  signal: AbortSignal,
): Promise<JsonReader> => (await call(path, { query }, signal)).at('body');

export const post = async (
  path: string,
  body: JsonObject,
  signal: AbortSignal,
): Promise<JsonReader> =>
  (await call(path, { method: 'POST', body, query: { context: 'edit' } }, signal)).at('body');

interface Part {
  limit: number;
  offset: number;
  maxBytes: number | undefined;
}

/** One part of a list, and where the next one begins. */
export async function list<T>(
  path: string,
  { limit, offset, maxBytes }: Part,
  query: FormFields,
  read: (item: JsonReader) => T,
  signal: AbortSignal,
) {
  const reply = await call(path, { query: { ...query, per_page: limit, offset } }, signal);
  const listed = reply.list('body').map(read);
  const known = { offset, total: total(reply), maxBytes };
  return listPart(listed, known, (items, paging) => ({ items, ...paging }));
}

async function send(
  path: string,
  { method = 'GET', query, body, headers }: Call,
  proof: string | undefined,
  signal: AbortSignal,
) {
  const address = route(api(), path);
  // In an envelope the status and the error's own code arrive together.
  const fields = new URLSearchParams(buildQueryString({ ...query, _envelope: 1 }));
  for (const [name, value] of fields) address.searchParams.append(name, value);
  const sent = new Headers(headers);
  if (proof !== undefined) sent.set('x-wp-nonce', proof);
  const file = body instanceof Blob;
  // The site goes by the ending of a file's name, and still wants a type.
  if (body !== undefined)
    sent.set('content-type', file ? 'application/octet-stream' : 'application/json');
  const content = body === undefined ? {} : { body: file ? body : JSON.stringify(body) };
  const answer = await fetchJSON(address, { method, headers: sent, signal, ...content });
  return jsonReader(answer, method === 'GET' ? undefined : 'unknown');
}

function total(answer: JsonReader): number {
  const said = answer.at('headers', 'X-WP-Total');
  return typeof said.value === 'string' && /^\d+$/.test(said.value)
    ? Number(said.value)
    : said.number();
}

/** An argument that only some may use is reported as invalid; inside it says 401 or 403. */
function forbidden(error: JsonReader): number | undefined {
  const details = error.maybe('data', 'details')?.value;
  const statuses = Object.values(isObject(details) ? details : {}).map(
    (one) => isObject(one) && isObject(one.data) && one.data.status,
  );
  return statuses.find((status) => status === 401 || status === 403) || undefined;
}

/** The message, and which arguments are wrong. */
function explained(error: JsonReader): string {
  const params = error.maybe('data', 'params')?.value;
  const wrong = Object.values(isObject(params) ? params : {}).filter(
    (one) => typeof one === 'string',
  );
  return [error.string('message'), ...wrong].join(' ');
}
