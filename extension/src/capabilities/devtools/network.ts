// Requests of a tab, seen from outside of the page while somebody asked for them. Nothing is held back or changed.

import { redact, redactHeader } from '../../browser/dev/redact.ts';
import { isFlag, isNumber, isText, listOf, shape } from '../../shared/guards.ts';
import { Ended, type ToolHandler, type ToolRun } from '../../worker/calls/tool-runner.ts';
import type { Around, Border } from '../../worker/tabs/sites.ts';
import { type Archived, harOf } from './har.ts';
import type { DevPages } from './pages.ts';
import { shownBy } from './site.ts';

/** One request, as far as it has come. */
export interface Seen extends Archived {
  id: number;
  key: string; // Chrome's number of it
  page: string; // origin of the page that the tab showed, or for which it was
  chain: Around[]; // the document that asked, or that is asked for, and those around it
  failed?: string;
  open: boolean;
}

const mostSeen = 1000; // of a tab: the newest
const mostUrl = 2000;
const mostAround = 50; // documents in each other
const mostPosted = 20_000; // characters of what was sent
const mostHeaders = 60;
const holdMs = 30 * 60_000; // that requests are captured without a call

type Started = chrome.webRequest.OnBeforeRequestDetails;
type Sent = chrome.webRequest.OnSendHeadersDetails;
type Ending = chrome.webRequest.OnCompletedDetails;
type Redirected = chrome.webRequest.OnBeforeRedirectDetails;
type Broken = chrome.webRequest.OnErrorOccurredDetails;

/** What is captured of one tab. */
class Capture {
  readonly since = Date.now();
  until = this.since + holdMs;
  readonly all: Seen[] = [];
  dropped = 0;
  bodies = false;
  page: string; // origin of what the tab shows
  #last = 0;
  readonly #open = new Map<string, Seen>();
  readonly #frames = new Map<number, Pick<Framed, 'parentFrameId' | 'url'>>();

  constructor(page: string) {
    this.page = page;
  }

  began(details: Started): void {
    const { requestId, method, url, type, timeStamp, initiator, requestBody, frameId } = details;
    const from = type === 'main_frame' ? originOf(url) : initiator;
    const seen: Seen = {
      page: frameId === 0 && from !== undefined && from !== 'null' ? from : this.page,
      chain: frameId === 0 ? [] : this.#chain(details),
      id: ++this.#last,
      key: requestId,
      method,
      url: redact(url.slice(0, mostUrl)),
      type,
      at: timeStamp,
      open: true,
      ...(initiator !== undefined && { initiator }),
    };
    const posted = textOf(requestBody);
    if (posted !== undefined) seen.posted = posted;
    this.all.push(seen);
    this.#open.set(requestId, seen);
    if (this.all.length <= mostSeen) return;
    const oldest = this.all.shift();
    if (oldest !== undefined && this.#open.get(oldest.key) === oldest) this.#open.delete(oldest.key);
    this.dropped++;
  }

  /** A frame shows a document. */
  committed({ frameId, parentFrameId, url }: Pick<Framed, 'frameId' | 'parentFrameId' | 'url'>): void {
    this.#frames.set(frameId, { parentFrameId, url });
  }

  // Of a document without an address of its own the browser says whose it is when it asks for something.
  #chain({ frameId, parentFrameId, type, url, initiator }: Started): Around[] {
    const own = type === 'sub_frame' ? { url, origin: undefined } : this.#around(frameId, initiator);
    const chain = [own];
    let next =
      type === 'sub_frame' ? parentFrameId : (this.#frames.get(frameId)?.parentFrameId ?? parentFrameId);
    while (next >= 0 && chain.length < mostAround) {
      chain.push(next === 0 ? { url: `${this.page}/`, origin: this.page } : this.#around(next, undefined));
      next = next === 0 ? -1 : (this.#frames.get(next)?.parentFrameId ?? 0);
    }
    return chain;
  }

  #around(frameId: number, origin: string | undefined): Around {
    return { url: this.#frames.get(frameId)?.url ?? '', origin };
  }

  sent({ requestId, requestHeaders }: Sent): void {
    const seen = this.#open.get(requestId);
    if (seen !== undefined) seen.requestHeaders = headersOf(requestHeaders);
  }

  ended(details: Ending | Redirected, redirect?: string): void {
    const seen = this.#open.get(details.requestId);
    if (seen === undefined) return;
    const { statusCode, statusLine, responseHeaders, fromCache, timeStamp, ip } = details;
    Object.assign(seen, {
      status: statusCode,
      statusLine,
      ms: Math.round(timeStamp - seen.at),
      responseHeaders: headersOf(responseHeaders),
      open: false,
      ...(fromCache && { cached: true }),
      ...(ip !== undefined && { ip }),
      ...(redirect !== undefined && { redirect: redact(redirect.slice(0, mostUrl)) }),
    });
    const length = responseHeaders?.find(({ name }) => name.toLowerCase() === 'content-length')?.value;
    if (length !== undefined && /^\d+$/.test(length)) seen.bytes = Number(length);
    this.#open.delete(details.requestId);
  }

  broke({ requestId, error, timeStamp }: Broken): void {
    const seen = this.#open.get(requestId);
    if (seen === undefined) return;
    Object.assign(seen, { failed: error, ms: Math.round(timeStamp - seen.at), open: false });
    this.#open.delete(requestId);
  }

  clear(): void {
    this.all.length = 0;
    this.dropped = 0;
    this.#open.clear();
  }
}

type Framed = chrome.webNavigation.GetAllFrameResultDetails;

const originOf = (url: string): string => (URL.canParse(url) ? new URL(url).origin : '');

function headersOf(headers: chrome.webRequest.HttpHeader[] | undefined): { name: string; value: string }[] {
  return (headers ?? []).slice(0, mostHeaders).map(({ name, value = '' }) => ({
    name,
    value: redactHeader(name, value.slice(0, mostUrl)),
  }));
}

function textOf(body: Started['requestBody']): string | undefined {
  if (body?.formData !== undefined && body.formData !== null) {
    const fields = Object.entries(body.formData).map(([name, [value]]) => [
      name,
      typeof value === 'string' ? value : '…',
    ]);
    return redact(new URLSearchParams(fields).toString()).slice(0, mostPosted);
  }
  const bytes = body?.raw?.[0]?.bytes;
  if (bytes === undefined) return undefined;
  const text = new TextDecoder().decode(new Uint8Array(bytes).subarray(0, 4 * mostPosted));
  return text.includes('\0') ? '[binary]' : redact(text).slice(0, mostPosted);
}

/** The captures of all tabs. Chrome is listened to only while there is one. */
export class DevNetwork {
  readonly #tabs = new Map<number, Capture>();

  /** The capture of a tab that shows a page of an origin, from now on if it was not captured. */
  of(tabId: number, page: string): Capture {
    const now = Date.now();
    for (const [id, { until }] of this.#tabs) if (until < now) this.stop(id);
    let capture = this.#tabs.get(tabId);
    if (capture === undefined) {
      if (this.#tabs.size === 0) this.#listen(true);
      capture = new Capture(page);
      this.#tabs.set(tabId, capture);
    }
    capture.until = now + holdMs;
    return capture;
  }

  has(tabId: number): boolean {
    return this.#tabs.has(tabId);
  }

  stop(tabId: number): void {
    if (this.#tabs.delete(tabId) && this.#tabs.size === 0) this.#listen(false);
  }

  #listen(on: boolean): void {
    const { onBeforeRequest, onSendHeaders, onBeforeRedirect, onCompleted, onErrorOccurred } =
      chrome.webRequest;
    if (on) {
      const urls = { urls: ['<all_urls>'] };
      onBeforeRequest.addListener(this.#began, urls, ['requestBody']);
      onSendHeaders.addListener(this.#sent, urls, ['requestHeaders', 'extraHeaders']);
      onBeforeRedirect.addListener(this.#redirected, urls, ['responseHeaders', 'extraHeaders']);
      onCompleted.addListener(this.#ended, urls, ['responseHeaders', 'extraHeaders']);
      onErrorOccurred.addListener(this.#broke, urls);
      chrome.webNavigation.onCommitted.addListener(this.#committed);
      chrome.tabs.onRemoved.addListener(this.#removed);
    } else {
      onBeforeRequest.removeListener(this.#began);
      onSendHeaders.removeListener(this.#sent);
      onBeforeRedirect.removeListener(this.#redirected);
      onCompleted.removeListener(this.#ended);
      onErrorOccurred.removeListener(this.#broke);
      chrome.webNavigation.onCommitted.removeListener(this.#committed);
      chrome.tabs.onRemoved.removeListener(this.#removed);
    }
  }

  readonly #began = (details: Started): undefined => {
    this.#tabs.get(details.tabId)?.began(details);
  };
  readonly #sent = (details: Sent): void => this.#tabs.get(details.tabId)?.sent(details);
  readonly #ended = (details: Ending): void => this.#tabs.get(details.tabId)?.ended(details);
  readonly #broke = (details: Broken): void => this.#tabs.get(details.tabId)?.broke(details);
  readonly #committed = (
    details: Pick<Framed, 'frameId' | 'parentFrameId' | 'url'> & { tabId: number },
  ): void => {
    const capture = this.#tabs.get(details.tabId);
    if (capture === undefined) return;
    if (details.frameId === 0) capture.page = originOf(details.url);
    else capture.committed(details);
  };
  readonly #removed = (tabId: number): void => this.stop(tabId);
  readonly #redirected = (details: Redirected): void =>
    this.#tabs.get(details.tabId)?.ended(details, details.redirectUrl);
}

const isBody = shape({
  url: isText,
  method: isText,
  status: isNumber,
  at: isNumber,
  text: isText,
  cut: isFlag,
});
const isBodies = shape({ bodies: listOf(isBody) });

/** Gives requests the bodies that the page's own functions got: the one of the same address that ended last before. */
async function withBodies(run: ToolRun, pages: DevPages, capture: Capture, all: Seen[]): Promise<void> {
  const { bodies } = run.args;
  if (typeof bodies === 'boolean') capture.bodies = bodies;
  if (!capture.bodies && bodies !== false) return;
  const bridge = await run.top();
  await pages.prepare(run, bridge);
  const told = await run.part(bridge, 'network', { _: { bodies: capture.bodies } });
  if (!isBodies(told)) return;
  for (const { url, method, at, text, cut } of told.bodies) {
    const shown = redact(url.slice(0, mostUrl));
    const seen = all.findLast(
      (one) =>
        one.url === shown && one.method === method.toUpperCase() && one.at <= at && one.body === undefined,
    );
    if (seen !== undefined) Object.assign(seen, { body: text, ...(cut && { bodyCut: true }) });
  }
}

function briefly({
  id,
  method,
  url,
  type,
  status,
  failed,
  ms,
  bytes,
  cached,
  open,
}: Seen): Record<string, unknown> {
  return { id, method, url, type, status, failed, ms, bytes, cached, ...(open && { open }) };
}

// Requests of other sites that the tab showed are not what this call was permitted for, nor are those of frames that
// may not be read.
function readable(origin: string, { border }: ToolRun, { all }: Capture): Seen[] {
  const open = (chain: readonly Around[]) => chain.length === 0 || border.closed(chain) === undefined;
  return all.filter(({ page, chain }) => page === origin && open(chain));
}

// What stands before the addresses in the headers that have some, and each address.
const addressed = new Map([
  ['location', /^()(.+)$/],
  ['content-location', /^()(.+)$/],
  ['referer', /^()(.+)$/],
  ['refresh', /^([^;,]*[;,]\s*(?:url\s*=\s*)?['"]?)([^'"]+)/i],
  ['link', /(<)([^>]*)/g],
]);

/**
 * A request as it is told: an address on a site that is not open is its origin, and where it came from is left out if
 * that is off. Of a request to a site that is off only the origin is told, and what came of it. What is kept stays
 * whole, because the person may open the site.
 */
export function toldOf(seen: Seen, border: Border): Seen {
  const { initiator, redirect, requestHeaders, responseHeaders, ...told } =
    border.ahead(seen.url) === 'off' ? outside(seen) : seen;
  const short = (address: string): string => {
    const whole = URL.canParse(address, seen.url) ? new URL(address, seen.url).href : 'about:blank';
    return border.ahead(whole) === 'open' ? address : originOf(whole);
  };
  const shortened = ({ name, value }: { name: string; value: string }) => {
    const pattern = addressed.get(name.toLowerCase());
    const tell = (_: string, before: string, address: string) => before + short(address);
    return { name, value: pattern === undefined ? value : value.replace(pattern, tell) };
  };
  const isOff = initiator !== undefined && border.ahead(`${initiator}/`) === 'off';
  const fromOff = isOff ? ['referer', 'origin'] : [];
  return {
    ...told,
    ...(initiator !== undefined && !isOff && { initiator }),
    ...(redirect !== undefined && { redirect: short(redirect) }),
    ...(requestHeaders !== undefined && {
      requestHeaders: requestHeaders
        .filter(({ name }) => !fromOff.includes(name.toLowerCase()))
        .map(shortened),
    }),
    ...(responseHeaders !== undefined && { responseHeaders: responseHeaders.map(shortened) }),
  };
}

/** A request without what was sent and answered, and with the origin of its address alone. */
function outside({
  requestHeaders: _,
  responseHeaders: _1,
  posted: _2,
  body: _3,
  bodyCut: _4,
  ...rest
}: Seen): Seen {
  return { ...rest, url: originOf(rest.url) };
}

function chosen(readable: Seen[], { contains, type, failed, limit }: Record<string, unknown>): Seen[] {
  const words = isText(contains) ? contains.toLowerCase() : '';
  const all = readable.filter(
    (seen) =>
      seen.url.toLowerCase().includes(words) &&
      (!isText(type) || seen.type === type) &&
      (failed !== true || seen.failed !== undefined || (seen.status ?? 0) >= 400),
  );
  return all.slice(-(isNumber(limit) ? limit : 100));
}

export function watchingNetwork(network: DevNetwork, pages: DevPages): ToolHandler {
  return async (run) => {
    const { tabId, args } = run;
    const { action = 'read', id } = args;
    if (action === 'stop') {
      network.stop(tabId);
      return { capturing: false };
    }
    const captured = network.has(tabId);
    const { origin } = await shownBy(run);
    const capture = network.of(tabId, origin);
    if (!captured) for (const frame of await run.standing()) capture.committed(frame);
    await withBodies(run, pages, capture, readable(origin, run, capture));
    if (action === 'clear') capture.clear();
    const { since, dropped } = capture;
    const all = readable(origin, run, capture).map((seen) => toldOf(seen, run.border));
    if (action === 'har') return archive(run, { all, since, dropped });
    if (action === 'get') {
      const found = all.find((seen) => seen.id === id);
      if (found === undefined)
        throw Ended.as('NOT_FOUND', `There is no request ${String(id)} among those that are kept`, {
          category: 'not_found',
        });
      const { key: _key, page: _page, chain: _chain, ...told } = found;
      return { ...told, time: new Date(found.at).toISOString() };
    }
    return {
      since: new Date(since).toISOString(),
      ...(!captured && { note: 'The capture begins now: use or reload the page, and call again.' }),
      requests: chosen(all, args).map(briefly),
      total: all.length,
      ...(dropped > 0 && { dropped }),
    };
  };
}

async function archive(
  run: ToolRun,
  { all, since, dropped }: Pick<Capture, 'all' | 'since' | 'dropped'>,
): Promise<unknown> {
  const { title = '' } = await chrome.tabs.get(run.tabId);
  const har = harOf(all, { title, since, version: chrome.runtime.getManifest().version });
  const text = JSON.stringify(har);
  const missing = dropped > 0 ? ` ${dropped} older ones are not kept.` : '';
  return {
    content: [
      { type: 'text', text: `HAR 1.2 with ${all.length} requests, without credentials.${missing}` },
      { type: 'resource', text, mimeType: 'application/json', name: `requests-${run.tabId}.har` },
    ],
  };
}
