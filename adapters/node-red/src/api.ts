// Calls the admin API in the name of the person. https://nodered.org/docs/api/admin/methods/

import {
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
  parseJSON,
} from '@tabrelay/plugin-sdk/json';
import { baseUrl, bearer } from './session.ts';

/** What is sent besides the path. */
export interface Sent {
  method?: string;
  body?: JsonObject;
  headers?: Record<string, string>;
  /** What to say about a thing that is not there. */
  missing?: string;
}

/** The answer as JSON. */
export async function send(path: string, sent: Sent, signal: AbortSignal): Promise<JsonReader> {
  const answer = await fetchJSON(baseUrl() + path, request(sent, signal));
  return jsonReader(answer, (sent.method ?? 'GET') === 'GET' ? undefined : 'unknown');
}

/** A request that is answered without JSON: by a status, and one word. */
export async function order(
  path: string,
  sent: Sent,
  expected: { status: number; text: string },
  signal: AbortSignal,
): Promise<void> {
  const options = request(sent, signal);
  const response = await fetchFromPage(baseUrl() + path, options);
  const { status, text } = expected;
  if (response.status === status && (await response.clone().text()).trim() === text) return;
  await readJSON(response, options);
  throw invalidResponse(`it is not ${[status, text].join(' ').trim()}`, 'unknown');
}

function request({ method = 'GET', body, missing = '', headers }: Sent, signal: AbortSignal) {
  const explain = (response: Response) => explained(response, missing);
  const accepting = { accept: 'application/json', ...bearer(), ...headers };
  if (body === undefined) return { method, headers: accepting, signal, explain };
  const json = { ...accepting, 'content-type': 'application/json' };
  return { method, headers: json, body: JSON.stringify(body), signal, explain };
}

async function explained(response: Response, missing: string): Promise<ToolError | undefined> {
  switch (response.status) {
    case 401:
      return ToolError.auth(
        'Node-RED refused this: nobody is signed in, the session has ended, or this user may not do it. ' +
          `Ask the person to sign in at ${baseUrl()}, then call again.`,
      );
    case 404:
      return missing === '' ? undefined : ToolError.notFound(missing);
    case 409:
      return conflict('Somebody else has deployed meanwhile.');
  }
  const answer = parseJSON(await response.text());
  const message = isObject(answer) ? answer.message : undefined;
  if (typeof message !== 'string' || message === '') return undefined;
  return httpStatusToToolError(response, `Node-RED answered: ${message}`);
}

/** The flows have changed since they were read. */
export const conflict = (reason: string): ToolError =>
  new ToolError(
    `${reason} Nothing was changed. Read the flow again, and apply the change to what it is now.`,
    'CONFLICT',
    {
      category: 'validation',
      outcome: 'not_executed',
    },
  );

/** All there is to deploy: tabs, subflows, configurations and nodes in one list, and its revision. */
export interface Flows {
  nodes: readonly JsonReader[];
  rev: string;
}

/** The form of the list that has a revision. */
export const v2 = { 'Node-RED-API-Version': 'v2' };

export async function readFlows(signal: AbortSignal): Promise<Flows> {
  const answer = await send('flows', { headers: v2 }, signal);
  return { nodes: answer.list('flows'), rev: answer.string('rev') };
}
