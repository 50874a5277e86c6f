// Calls the HTTP API of the server whose page is open. https://prometheus.io/docs/prometheus/latest/querying/api/

import {
  buildQueryString,
  type FormFields,
  fetchJSON,
  getConfig,
  httpStatusToToolError,
  ToolError,
} from '@tabrelay/plugin-sdk';
import { asText, type JsonObject, objectAt } from '@tabrelay/plugin-sdk/json';

/** An answer's `data`, which may be a list, and what the server warns of. */
export interface Answer {
  data: unknown;
  warnings: unknown;
}

export async function get(path: string, params: FormFields, signal: AbortSignal): Promise<Answer> {
  const query = buildQueryString(params);
  const url = `${baseUrl()}api/v1/${path}${query && `?${query}`}`;
  const answer = objectAt(await fetchJSON(url, { signal, explain }));
  return { data: answer.data, warnings: answer.warnings };
}

/** The pages of the web interface: a person may have copied the address of one. */
const pages = /\/?((classic|new)\/?)?(graph|query|alerts|targets|rules|status|config|flags|tsdb-status)?$/;

/** Where the server's paths begin: below the configured address, when that is the server of this tab. */
export function baseUrl(): string {
  const configured = getConfig('url');
  const url = typeof configured === 'string' ? new URL(configured) : undefined;
  const path = url?.host === location.host ? url.pathname.replace(pages, '') : '';
  return `${location.origin}${path}/`;
}

/** What went wrong in the words of the server; undefined when it was not Prometheus that answered. */
async function explain(response: Response): Promise<ToolError | undefined> {
  const answer = objectAt(await response.json().catch(() => undefined));
  const known = asText(answer.errorType);
  return known === '' ? undefined : failure(known, answer, response);
}

/** https://prometheus.io/docs/prometheus/latest/querying/api/#format-overview names the types of errors. */
function failure(type: string, answer: JsonObject, response: Response): ToolError | Promise<ToolError> {
  const said = `Prometheus answered: ${asText(answer.error)}.`;
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
