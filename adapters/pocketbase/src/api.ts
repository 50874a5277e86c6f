// Calls the server's web API in the name of the superuser. https://pocketbase.io/docs/api-records/

import {
  buildQueryString,
  type FormFields,
  fetchJSON,
  httpStatusToToolError,
  ToolError,
} from '@tabrelay/plugin-sdk';
import { asText, type JsonObject, objectAt } from '@tabrelay/plugin-sdk/json';
import { baseUrl, loginUrl, token } from './session.ts';

export const get = (path: string, params: FormFields, signal: AbortSignal): Promise<JsonObject> =>
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

/** One request. The answer is an object, an empty one when there is no body. */
export async function send(
  method: string,
  path: string,
  body: JsonObject | undefined,
  signal: AbortSignal,
  advice = '',
): Promise<JsonObject> {
  const headers = new Headers();
  const session = token();
  if (session !== undefined) headers.set('authorization', session);
  if (body !== undefined) headers.set('content-type', 'application/json');
  const sent = body === undefined ? {} : { body: JSON.stringify(body) };
  return objectAt(
    await fetchJSON(`${baseUrl()}api/${path}`, {
      method,
      headers,
      ...sent,
      signal,
      explain: (response) => explain(response, advice),
    }),
  );
}

/** The path of a collection's records, or of one of them. */
export const records = (collection: string, id?: string): string =>
  `collections/${encodeURIComponent(collection)}/records${id === undefined ? '' : `/${encodeURIComponent(id)}`}`;

/** A text as a literal of the filter language. */
const quoted = (value: string): string => `'${value.replaceAll("'", "\\'")}'`;

/**
 * A text as the right side of `~`: what contains it, where % stands for anything. With a % in it PocketBase takes it for
 * a whole pattern, and a backslash at its end would hide the closing quote: then the pattern is written out.
 */
export const containing = (value: string): string =>
  quoted(/%|\\$/.test(value) ? `%${value.replaceAll(/[\\_]/g, '\\$&')}%` : value);

/** The failure in the words of the server; undefined when it was not PocketBase that answered. */
async function explain(response: Response, unread: string): Promise<ToolError | undefined> {
  const answer = objectAt(await response.json().catch(() => undefined));
  const message = asText(answer.message);
  if (message === '') return undefined;
  const said = `PocketBase answered: ${[message, ...details(objectAt(answer.data))].join(' ')}`;
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
const details = (data: JsonObject): string[] =>
  Object.entries(data).map(
    ([field, problem]) => `${field}: ${asText(objectAt(problem).message) || JSON.stringify(problem)}`,
  );
