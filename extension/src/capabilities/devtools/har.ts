// HTTP Archive 1.2 of what was captured (http://www.softwareishard.com/blog/har-12-spec/).

/** One request as it is exported; without credentials. */
export interface Archived {
  method: string;
  url: string;
  type: string;
  at: number; // Unix milliseconds
  ms?: number;
  status?: number;
  statusLine?: string;
  failed?: string;
  requestHeaders?: { name: string; value: string }[];
  responseHeaders?: { name: string; value: string }[];
  posted?: string;
  body?: string;
  bodyCut?: boolean;
  bytes?: number;
  redirect?: string;
  cached?: boolean;
  ip?: string;
  initiator?: string;
}

const headerOf = (headers: Archived['requestHeaders'], name: string): string =>
  headers?.find((header) => header.name.toLowerCase() === name)?.value ?? '';

function queryOf(url: string): { name: string; value: string }[] {
  if (!URL.canParse(url)) return [];
  return Array.from(new URL(url).searchParams, ([name, value]) => ({ name, value }));
}

function entryOf(seen: Archived): Record<string, unknown> {
  const {
    method,
    url,
    at,
    ms = 0,
    status = 0,
    statusLine = '',
    requestHeaders = [],
    responseHeaders = [],
  } = seen;
  const [, httpVersion = 'unknown', statusText = ''] = /^(\S+) \d+ ?(.*)$/.exec(statusLine) ?? [];
  return {
    pageref: 'page_1',
    startedDateTime: new Date(at).toISOString(),
    time: ms,
    request: {
      method,
      url,
      httpVersion,
      cookies: [],
      headers: requestHeaders,
      queryString: queryOf(url),
      ...(seen.posted !== undefined && {
        postData: { mimeType: headerOf(requestHeaders, 'content-type'), text: seen.posted },
      }),
      headersSize: -1,
      bodySize: -1,
    },
    response: {
      status,
      statusText,
      httpVersion,
      cookies: [],
      headers: responseHeaders,
      content: {
        size: seen.bytes ?? seen.body?.length ?? -1,
        mimeType: headerOf(responseHeaders, 'content-type'),
        ...(seen.body !== undefined && { text: seen.body }),
        ...(seen.bodyCut === true && { comment: 'cut' }),
      },
      redirectURL: seen.redirect ?? '',
      headersSize: -1,
      bodySize: seen.bytes ?? -1,
      ...(seen.failed !== undefined && { _error: seen.failed }),
    },
    cache: {},
    timings: { send: 0, wait: ms, receive: 0 },
    ...(seen.ip !== undefined && { serverIPAddress: seen.ip }),
    _resourceType: seen.type,
  };
}

export function harOf(
  all: readonly Archived[],
  { title, since, version }: { title: string; since: number; version: string },
): Record<string, unknown> {
  return {
    log: {
      version: '1.2',
      creator: { name: 'tabrelay', version },
      pages: [{ startedDateTime: new Date(since).toISOString(), id: 'page_1', title, pageTimings: {} }],
      entries: all.map(entryOf),
    },
  };
}
