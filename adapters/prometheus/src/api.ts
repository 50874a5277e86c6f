// Calls the HTTP API of the server whose page is open. https://prometheus.io/docs/prometheus/latest/querying/api/

import {
  buildQueryString,
  type FormFields,
  fetchJSON,
  getConfig,
  httpStatusToToolError,
  ToolError,
} from '@tabrelay/plugin-sdk';
import { isObject, type JsonReader, jsonReader } from '@tabrelay/plugin-sdk/json';

/** An answer's `data`, which may be a list, and what the server warns of. */
export interface Answer {
  data: JsonReader;
  warnings: string[];
}

export async function get(path: string, params: FormFields, signal: AbortSignal): Promise<Answer> {
  const query = buildQueryString(params);
  const url = `${baseUrl()}api/v1/${path}${query && `?${query}`}`;
  const answer = jsonReader(await fetchJSON(url, { signal, explain }));
  if (answer.string('status') !== 'success') answer.at('status').fail('is not success');
  return { data: answer.at('data'), warnings: answer.maybe('warnings')?.strings() ?? [] };
}

/** The pages of the web interface: a person may have copied the address of one. */
const pages =
  /\/?((classic|new)\/?)?(graph|query|alerts|targets|rules|status|config|flags|tsdb-status)?$/;

/** Where the server's paths begin: below the configured address, when that is the server of this tab. */
export function baseUrl(): string {
  const configured = getConfig('url');
  const url = typeof configured === 'string' ? new URL(configured) : undefined;
  const path = url?.host === location.host ? url.pathname.replace(pages, '') : '';
  return `${location.origin}${path}/`;
}

/** What went wrong in the words of the server; undefined when it was not Prometheus that answered. */
async function explain(response: Response): Promise<ToolError | undefined> {
  const answer: unknown = await response.json().catch(() => undefined);
  if (!isObject(answer) || typeof answer.errorType !== 'string') return undefined;
  return failure(answer.errorType, String(answer.error ?? answer.errorType), response);
}

/** https://prometheus.io/docs/prometheus/latest/querying/api/#format-overview names the types of errors. */
function failure(type: string, error: string, response: Response): ToolError | Promise<ToolError> {
  const said = `Prometheus answered: ${error}.`;
  switch (type) {
    case 'execution':
      return new ToolError(
        `${said} Ask for less: fewer series, a shorter time, fewer points.`,
        'QUERY_FAILED',
        {
          category: 'validation',
          outcome: 'not_executed',
        },
      );
    case 'timeout':
    case 'canceled':
      return new ToolError(`${said} Ask for less, or try again later.`, 'TIMEOUT', {
        category: 'timeout',
        retryable: true,
        outcome: 'not_executed',
      });
  }
  return httpStatusToToolError(response, said);
}
