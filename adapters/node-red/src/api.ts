// Calls the admin API in the name of the person. https://nodered.org/docs/api/admin/methods/

import { fetchText, httpStatusToToolError, ToolError } from '@tabrelay/plugin-sdk';
import { asText, type JsonObject, objectAt, objectsIn, parseJSON } from '@tabrelay/plugin-sdk/json';
import { baseUrl, bearer } from './session.ts';

/** What is sent besides the path. */
export interface Sent {
  method?: string;
  body?: JsonObject;
  headers?: Record<string, string>;
  /** What to say about a thing that is not there. */
  missing?: string;
}

/** The answer as JSON; undefined when it is none, such as the "OK" of some methods. */
export async function send(path: string, sent: Sent, signal: AbortSignal): Promise<unknown> {
  const { method = 'GET', body, missing = '' } = sent;
  const headers = { accept: 'application/json', ...bearer(), ...sent.headers };
  const explain = (response: Response) => explained(response, missing);
  if (body === undefined)
    return parseJSON(await fetchText(baseUrl() + path, { method, headers, signal, explain }));
  const json = { ...headers, 'content-type': 'application/json' };
  const options = { method, headers: json, body: JSON.stringify(body), signal, explain };
  return parseJSON(await fetchText(baseUrl() + path, options));
}

async function explained(response: Response, missing: string): Promise<ToolError | undefined> {
  switch (response.status) {
    case 401:
      return ToolError.auth(
        `Node-RED refused this: nobody is signed in, the session has ended, or this user may not do it. Ask the person to sign in at ${baseUrl()}, then call again.`,
      );
    case 404:
      return missing === '' ? undefined : ToolError.notFound(missing);
    case 409:
      return conflict('Somebody else has deployed meanwhile.');
  }
  const answer = objectAt(parseJSON(await response.text()));
  const message = asText(answer.message);
  return message === '' ? undefined : httpStatusToToolError(response, `Node-RED answered: ${message}`);
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
  nodes: readonly JsonObject[];
  rev: string;
}

/** The form of the list that has a revision. */
export const v2 = { 'Node-RED-API-Version': 'v2' };

export async function readFlows(signal: AbortSignal): Promise<Flows> {
  const answer = objectAt(await send('flows', { headers: v2 }, signal));
  return { nodes: objectsIn(answer.flows), rev: asText(answer.rev) };
}
