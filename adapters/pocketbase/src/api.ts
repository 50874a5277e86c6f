// Calls the server's web API in the name of the superuser. https://pocketbase.io/docs/api-records/

import {
  buildQueryString,
  type FormFields,
  fetchFromPage,
  fetchJSON,
  httpStatusToToolError,
  readJSON,
  ToolError,
} from '@tabrelay/plugin-sdk';
import {
  invalidResponse,
  isObject,
  type JsonObject,
  type JsonReader,
  jsonReader,
} from '@tabrelay/plugin-sdk/json';
import { listPart, type Paging } from '@tabrelay/plugin-sdk/paging';
import { baseUrl, loginUrl, token } from './session.ts';

export const get = (path: string, params: FormFields, signal: AbortSignal): Promise<JsonReader> =>
  send(
    'GET',
    `${path}?${buildQueryString(params)}`,
    undefined,
    signal,
    params.filter || params.sort ? asked : '',
  );

/** What PocketBase does not say of a filter or sort that it cannot read. */
const asked =
  ' Look at filter and sort: they take the fields that get_collection names, and texts in quotes.';

/** One request that answers JSON. */
export async function send(
  method: string,
  path: string,
  body: JsonObject | undefined,
  signal: AbortSignal,
  advice = '',
): Promise<JsonReader> {
  const headers = authorized();
  if (body !== undefined) headers.set('content-type', 'application/json');
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  const explain = (response: Response) => explained(response, advice);
  const answer = await fetchJSON(`${baseUrl()}api/${path}`, {
    method,
    headers,
    ...sent,
    signal,
    explain,
  });
  return jsonReader(answer, method === 'GET' ? undefined : 'unknown');
}

/** A request to delete something, which the server answers with "no content". */
export async function remove(path: string, signal: AbortSignal): Promise<void> {
  const explain = (response: Response) => explained(response, '');
  const request = { method: 'DELETE', headers: authorized(), signal, explain };
  const response = await fetchFromPage(`${baseUrl()}api/${path}`, request);
  if (response.status === 204) return;
  await readJSON(response, request);
  throw invalidResponse(`it has the status ${response.status}, not 204`, 'unknown');
}

function authorized(): Headers {
  const session = token();
  return new Headers(session === undefined ? {} : { authorization: session });
}

/** Which part of a list. */
interface Part {
  limit: number;
  offset: number;
  maxBytes: number | undefined;
}

/** Lists entries from an offset on. The server counts in pages: those on which the entries are get asked for. */
export async function list<Item, Answer>(
  path: string,
  { limit, offset, maxBytes }: Part,
  params: FormFields,
  read: (item: JsonReader) => Item,
  answer: (items: Item[], paging: Paging) => Answer,
  signal: AbortSignal,
): Promise<Answer> {
  const items: Item[] = [];
  const skipped = offset % limit;
  let total = 0;
  for (let page = Math.floor(offset / limit) + 1, end = false; !end; page++) {
    const found = await get(path, { page, perPage: limit, ...params }, signal);
    items.push(...found.list('items').map(read));
    total = found.number('totalItems');
    end = items.length >= skipped + limit || page >= found.number('totalPages');
  }
  return listPart(items.slice(skipped, skipped + limit), { offset, total, maxBytes }, answer);
}

/** The path of a collection's records, or of one of them. */
export const records = (collection: string, id?: string): string =>
  `collections/${encodeURIComponent(collection)}/records${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;

/** A text as a literal of the filter language. */
const quoted = (value: string): string => `'${value.replaceAll("'", "\\'")}'`;

/**
 * A text as the right side of `~`: what contains it, where % stands for anything. With a % in it PocketBase takes it
 * for a whole pattern, and a backslash at its end would hide the closing quote: then the pattern is written out.
 */
export const containing = (value: string): string =>
  quoted(/%|\\$/.test(value) ? `%${value.replaceAll(/[\\_]/g, '\\$&')}%` : value);

/** The failure in the words of the server; undefined when it was not PocketBase that answered. */
async function explained(response: Response, unread: string): Promise<ToolError | undefined> {
  const answer: unknown = await response.json().catch(() => undefined);
  if (!isObject(answer) || typeof answer.message !== 'string' || answer.message === '')
    return undefined;
  const said = `PocketBase answered: ${[answer.message, ...details(answer.data)].join(' ')}`;
  if (response.status === 401 || response.status === 403) {
    return ToolError.auth(
      `${said} Ask the person to sign in as a superuser at ${loginUrl()}, then call again.`,
    );
  }
  const advice: Record<number, string> = {
    400: unread,
    404: ' list_collections and list_records show which names and ids there are.',
  };
  return httpStatusToToolError(response, `${said}${advice[response.status] ?? ''}`);
}

/** What is wrong with each field. */
const details = (data: unknown): string[] =>
  Object.entries(isObject(data) ? data : {}).map(([field, problem]) => {
    const said = isObject(problem) && typeof problem.message === 'string' ? problem.message : '';
    return `${field}: ${said || JSON.stringify(problem)}`;
  });
