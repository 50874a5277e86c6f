// Records one tab for its person, who makes a plugin of it: which requests its pages make, as Chrome tells of them,
// what they are answered, as the documents tell, and what the person clicks. Kept in memory until the relay reads it.

import { exactly, isNumber, isText, shape } from '../../shared/guards.ts';
import type { Bridge, Bridges } from '../../worker/documents/bridges.ts';
import type { Injector } from '../../worker/documents/inject.ts';
import { inTime, Unreadable } from '../../worker/documents/unreadable.ts';
import { bodyOf, tokenName, tokensOf } from './body.ts';
import { locate } from './locate.ts';

interface Parts {
  bridges: Pick<Bridges, 'top'>;
  injector: Pick<Injector, 'ensureBridge'>;
}

const waitMs = 10_000; // for something to tell, before the relay is answered with nothing
const settleMs = 2000; // for requests that are under way when the person ends the recording
const textMs = 300; // for the text of an answer that has come
const abandonedMs = 30_000; // after the last reading nobody is there any more
const maxChars = 16 * 1024 * 1024; // of what waits to be read and was read
const badge = 'REC';

/** Requests of a page that may be what a tool does. Others are counted. */
const wanted = new Set(['main_frame', 'sub_frame', 'xmlhttprequest']);
/** Headers that every request has, and those that are nobody's to know. */
const everywhere = new Set(
  (
    'cache-control connection content-length cookie cookie2 dnt host if-modified-since if-none-match origin ' +
    'pragma priority te user-agent'
  ).split(' '),
);
const besides = (name: string): boolean => everywhere.has(name) || /^(?:accept|sec-|upgrade-)/.test(name);
const told = new Set(['content-type', 'location', 'retry-after']);

const isDone = shape({ kind: exactly('click', 'submit', 'answer') });
const isFrame = shape({ tabId: isNumber, documentId: isText });

interface Session {
  tabId: number;
  origin: string;
  events: object[];
  chars: number;
  ended: string | undefined;
  deadline: ReturnType<typeof setTimeout>;
  abandoned: ReturnType<typeof setTimeout>;
  numbers: Map<string, number>; // of the requests that are under way
  last: number;
  others: Map<string, number>; // how many requests of other kinds and to other origins
  tapped: Set<string>; // documents
  looked: Set<string>; // values that were looked for, by document
  reader: (() => void) | undefined;
  stopping: boolean; // the person ended it
}

type Began = chrome.webRequest.OnBeforeRequestDetails;
type Sent = chrome.webRequest.OnBeforeSendHeadersDetails;

export class Recorder {
  readonly #parts: Parts;
  #session: Session | undefined;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#takeDownSigns().catch(() => {}); // a tab was closed meanwhile
  }

  /** Begins to record a tab, for at most so long; with reload it loads its page again, so that all of it is seen. */
  async start(tabId: number, origin: string, forMs: number, reload: boolean): Promise<void> {
    if (this.#session?.ended === undefined && this.#session !== undefined)
      throw new Unreadable('TAB_UNRESPONSIVE', `Tab ${this.#session.tabId} is being recorded; one at a time`);
    const { url } = await chrome.tabs.get(tabId);
    if (URL.parse(url ?? '')?.origin !== origin)
      throw new Unreadable('TAB_CHANGED', `The tab does not show ${origin}`);
    const session: Session = {
      tabId,
      origin,
      events: [],
      chars: 0,
      ended: undefined,
      deadline: setTimeout(() => this.#end('time'), forMs),
      abandoned: setTimeout(() => this.#end('abandoned'), abandonedMs),
      numbers: new Map(),
      last: 0,
      others: new Map(),
      tapped: new Set(),
      looked: new Set(),
      reader: undefined,
      stopping: false,
    };
    this.#session = session;
    this.#listen(true);
    this.#sign(tabId);
    if (reload) {
      await chrome.tabs.reload(tabId);
      return;
    }
    const bridge = await inTime(this.#parts.injector.ensureBridge(tabId));
    await inTime(this.#tap(bridge));
  }

  /** What happened since the last reading, as soon as there is something. */
  async read(tabId: number): Promise<string> {
    const session = this.#session;
    if (session?.tabId !== tabId) throw new Unreadable('TAB_CHANGED', 'The tab is not being recorded');
    clearTimeout(session.abandoned);
    if (session.events.length === 0 && session.ended === undefined) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, waitMs);
        session.reader = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    const { ended } = session;
    const events = session.events.splice(0);
    if (ended === undefined) session.abandoned = setTimeout(() => this.#end('abandoned'), abandonedMs);
    return JSON.stringify({ events, others: Object.fromEntries(session.others), ended });
  }

  /** Ends the recording of a tab as soon as the requests under way are answered. What was not read yet can still be. */
  stop(tabId: number): void {
    const session = this.#of(tabId);
    if (session === undefined) return;
    session.stopping = true;
    setTimeout(() => {
      if (this.#session === session) this.#end('stopped');
    }, settleMs);
    this.#settled(session);
  }

  #settled(session: Session): void {
    if (!session.stopping || session.numbers.size > 0) return;
    setTimeout(() => {
      if (this.#session === session) this.#end('stopped');
    }, textMs);
  }

  hear(bridge: Bridge, text: string): void {
    const session = this.#of(bridge.tabId);
    if (session === undefined || bridge.frameId !== 0) return;
    try {
      const event: unknown = JSON.parse(text);
      if (isDone(event)) this.#add(session, event);
    } catch {
      // A plugin in that document made it up.
    }
  }

  /** A document has its bridge. */
  ready(bridge: Bridge): void {
    if (bridge.frameId !== 0) return;
    if (this.#of(bridge.tabId) !== undefined)
      this.#tap(bridge).catch(() => {}); // it went away
    else bridge.send({ type: 'record', on: false }); // an earlier worker may have told it otherwise
  }

  /** The connection to the relay ended, and with it every recording: nobody would read it. */
  lost(): void {
    this.#end('lost');
  }

  removed(tabId: number): void {
    if (this.#of(tabId) !== undefined) this.#end('closed');
  }

  #of(tabId: number): Session | undefined {
    return this.#session?.tabId === tabId && this.#session.ended === undefined ? this.#session : undefined;
  }

  async #tap(bridge: Bridge): Promise<void> {
    const session = this.#of(bridge.tabId);
    if (session === undefined) return;
    bridge.send({ type: 'record', on: true });
    await this.#tapRequests(session, bridge.documentId);
  }

  async #tapRequests(session: Session, documentId: string): Promise<void> {
    if (session.tapped.has(documentId)) return;
    session.tapped.add(documentId);
    await chrome.scripting.executeScript({
      target: { tabId: session.tabId, documentIds: [documentId] },
      files: ['record.js'],
      world: 'MAIN',
      injectImmediately: true,
    });
  }

  #add(session: Session, event: object): void {
    const whole = { at: Date.now(), ...event };
    session.chars += JSON.stringify(whole).length;
    if (session.chars > maxChars) {
      this.#end('size');
      return;
    }
    session.events.push(whole);
    session.reader?.();
  }

  #end(why: string): void {
    const session = this.#session;
    if (session === undefined || session.ended !== undefined) return;
    session.ended = why;
    clearTimeout(session.deadline);
    clearTimeout(session.abandoned);
    this.#listen(false);
    this.#parts.bridges.top(session.tabId)?.send({ type: 'record', on: false });
    chrome.action.setBadgeText({ tabId: session.tabId }).catch(() => {}); // the tab was closed
    session.reader?.();
  }

  #sign(tabId: number): void {
    chrome.action.setBadgeText({ tabId, text: badge }).catch(() => {});
  }

  // Chrome keeps a badge longer than this worker lives, whose predecessor may have been recording.
  async #takeDownSigns(): Promise<void> {
    for (const { id } of await chrome.tabs.query({})) {
      if (id === undefined || (await chrome.action.getBadgeText({ tabId: id })) !== badge) continue;
      if (this.#of(id) === undefined) await chrome.action.setBadgeText({ tabId: id });
    }
  }

  #listen(on: boolean): void {
    const session = this.#session;
    const { onBeforeRequest, onBeforeSendHeaders, onBeforeRedirect, onCompleted, onErrorOccurred } =
      chrome.webRequest;
    if (on && session !== undefined) {
      const filter = { urls: ['<all_urls>'], tabId: session.tabId };
      onBeforeRequest.addListener(this.#began, filter, ['requestBody']);
      onBeforeSendHeaders.addListener(this.#sent, filter, ['requestHeaders', 'extraHeaders']);
      onBeforeRedirect.addListener(this.#answered, filter, ['responseHeaders']);
      onCompleted.addListener(this.#answered, filter, ['responseHeaders']);
      onErrorOccurred.addListener(this.#failed, filter);
      chrome.webNavigation.onCommitted.addListener(this.#committed);
      return;
    }
    onBeforeRequest.removeListener(this.#began);
    onBeforeSendHeaders.removeListener(this.#sent);
    onBeforeRedirect.removeListener(this.#answered);
    onCompleted.removeListener(this.#answered);
    onErrorOccurred.removeListener(this.#failed);
    chrome.webNavigation.onCommitted.removeListener(this.#committed);
  }

  readonly #began = (details: Began): undefined => {
    const session = this.#of(details.tabId);
    if (session === undefined) return;
    const { requestId, method, url, type } = details;
    const { origin } = new URL(url);
    if (!wanted.has(type)) return count(session, type);
    if (origin !== session.origin) return count(session, origin);
    const number = ++session.last;
    session.numbers.set(requestId, number);
    const body = bodyOf(details.requestBody);
    this.#add(session, { kind: 'request', number, method, url, type, ...body });
    const fields = isFrame(details) ? tokensOf(body) : [];
    if (fields.length > 0) this.#look(session, details.documentId, fields);
  };

  readonly #sent = (details: Sent): undefined => {
    const session = this.#of(details.tabId);
    const number = session?.numbers.get(details.requestId);
    if (session === undefined || number === undefined) return;
    const headers = (details.requestHeaders ?? [])
      .filter(({ name }) => !besides(name.toLowerCase()))
      .map(({ name, value }) => [name.toLowerCase(), (value ?? '').slice(0, 8192)]);
    this.#add(session, { kind: 'headers', number, headers });
    const values = headers.flatMap(([name = '', value = '']) => {
      if (!/^(?:x-|authorization$)/.test(name) && !tokenName.test(name)) return [];
      return [value.replace(/^(?:Bearer|Token|Basic|JWT) +/i, '')];
    });
    if (values.length > 0) this.#look(session, details.documentId, values);
  };

  readonly #answered = (
    details: chrome.webRequest.OnCompletedDetails | chrome.webRequest.OnBeforeRedirectDetails,
  ): void => {
    const session = this.#of(details.tabId);
    const number = session?.numbers.get(details.requestId);
    if (session === undefined || number === undefined) return;
    session.numbers.delete(details.requestId);
    const headers = (details.responseHeaders ?? [])
      .filter(({ name }) => told.has(name.toLowerCase()))
      .map(({ name, value }) => [name.toLowerCase(), value ?? '']);
    this.#add(session, { kind: 'response', number, status: details.statusCode, headers });
    this.#settled(session);
  };

  readonly #failed = (details: chrome.webRequest.OnErrorOccurredDetails): void => {
    const session = this.#of(details.tabId);
    const number = session?.numbers.get(details.requestId);
    if (session === undefined || number === undefined) return;
    session.numbers.delete(details.requestId);
    this.#add(session, { kind: 'failed', number, error: details.error });
    this.#settled(session);
  };

  // The tap has to be there before the page's scripts ask for anything, so it does not wait for the bridge.
  readonly #committed = (details: chrome.webNavigation.WebNavigationTransitionCallbackDetails): void => {
    const session = this.#of(details.tabId);
    if (session === undefined || details.frameId !== 0) return;
    if (URL.parse(details.url)?.origin !== session.origin) {
      this.#end('left');
      return;
    }
    this.#sign(session.tabId);
    if (isFrame(details)) this.#tapRequests(session, details.documentId).catch(() => {}); // it went away
    this.#parts.injector.ensureBridge(session.tabId).catch(() => {});
  };

  async #look(session: Session, documentId: string | undefined, values: readonly string[]): Promise<void> {
    if (documentId === undefined) return;
    const fresh = values.filter((value) => !session.looked.has(`${documentId} ${value}`)).slice(0, 20);
    if (fresh.length === 0) return;
    for (const value of fresh) session.looked.add(`${documentId} ${value}`);
    try {
      const [found] = await chrome.scripting.executeScript({
        target: { tabId: session.tabId, documentIds: [documentId] },
        world: 'MAIN',
        injectImmediately: true,
        func: locate,
        args: [fresh],
      });
      const page = this.#parts.bridges.top(session.tabId)?.url ?? '';
      for (const [i, places] of (found?.result ?? []).entries())
        if (places.length > 0) this.#add(session, { kind: 'found', value: fresh[i], places, page });
    } catch {
      // The document went away: then it is not known where the value came from.
    }
  }
}

function count(session: Session, what: string): undefined {
  if (session.others.has(what) || session.others.size < 100)
    session.others.set(what, (session.others.get(what) ?? 0) + 1);
}
