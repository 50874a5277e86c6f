// What the worker sees around an act in a page: requests that fail, tabs that open, downloads that begin. It listens
// only while something acts.
import type { Dialog, DialogAnswer, News } from '../../shared/bridge-messages.ts';
import type { Bridge, Bridges } from '../../worker/documents/bridges.ts';
import { type Judge, toldAddress } from '../../worker/tabs/leading.ts';
import { originOf } from '../../worker/tabs/sites.ts';
import { isSameSite } from './site.ts';

interface Act {
  bridge: Bridge;
  number: number;
  judge: Judge; // what may be told of other sites
  requests: Map<string, Request>; // that began since, and are under way
  sent: string[]; // to this site, to change something
  failed: string[];
  downloads: string[];
  empty: string[]; // addresses that were answered, and with nothing
  opened: Promise<{ tabId: number; url: string } | undefined>[];
  dialogs: Dialog[];
  front: Promise<number | undefined>; // the tab in front of the window
}

interface Request {
  words: string;
  changes: boolean; // something at this site
  type: string;
}

const maxTold = 10;
const openedMs = 700; // for a new tab to have an address: less than a document waits for what is told
// What pages send beside their work, and what they show without waiting for it.
const besides = ['ping', 'csp_report', 'image', 'media', 'font', 'websocket', 'other'];

// What a page waits for before it shows something.
const shows = ['xmlhttprequest', 'script', 'sub_frame'];

type Failed = chrome.webRequest.OnErrorOccurredDetails;
type Completed = chrome.webRequest.OnCompletedDetails;

export class Acts {
  readonly #bridges: Bridges;
  readonly #acts = new Set<Act>();
  readonly #touched = new WeakMap<Bridge, string>();
  readonly #begun = new WeakMap<Bridge, number>(); // steps
  readonly #judges = new WeakMap<Bridge, Judge>();

  constructor(bridges: Bridges) {
    this.#bridges = bridges;
  }

  /** A document is about to be asked for an act. */
  expect(bridge: Bridge, judge: Judge): void {
    this.#touched.delete(bridge);
    this.#begun.set(bridge, 0);
    this.#judges.set(bridge, judge);
  }

  /** A document says that an act begins in it. */
  begin(bridge: Bridge, number: number, answer: DialogAnswer): void {
    this.#touched.delete(bridge);
    this.#begun.set(bridge, (this.#begun.get(bridge) ?? 0) + 1);
    if (this.#acts.size === 0) this.#listen(true);
    const judge = this.#judges.get(bridge) ?? ownOnly(bridge);
    this.#acts.add({
      bridge,
      number,
      judge,
      requests: new Map(),
      sent: [],
      failed: [],
      downloads: [],
      empty: [],
      opened: [],
      dialogs: [],
      front: frontOf(bridge.tabId),
    });
    this.#lend(bridge, answer, judge);
    bridge.send({ type: 'acting', number, requests: 0 });
  }

  /** The page of an act got an event. */
  touched(bridge: Bridge, on: string): void {
    this.#touched.set(bridge, on);
  }

  /**
   * What the act that a document was asked for last acts on, and in which step, counted from 1; undefined: that step
   * has sent no event yet by which it is done.
   */
  actedOn(bridge: Bridge): { on: string; step: number } | undefined {
    const on = this.#touched.get(bridge);
    return on === undefined ? undefined : { on, step: this.#begun.get(bridge) ?? 1 };
  }

  /** The document of an act asks which requests are under way. */
  async asked(bridge: Bridge, number: number): Promise<void> {
    await chrome.tabs.get(bridge.tabId).catch(() => undefined); // Chrome tells first of what began before
    const act = this.#find(bridge, number);
    if (act !== undefined) this.#count(act);
  }

  /** The act is over: what was seen is told. */
  async end(bridge: Bridge, number: number): Promise<void> {
    const act = this.#find(bridge, number);
    if (act === undefined) return;
    const opened = (await Promise.all(act.opened))
      .filter((one) => one !== undefined)
      .map(({ tabId, url }) => ({ tabId, url: shortened(toldAddress(act.judge, url)) }));
    this.#drop(act);
    const { failed: failedRequests, dialogs, sent } = act;
    const told = (url: string) => shortened(toldAddress(act.judge, url));
    const downloads = act.downloads.filter((url) => !act.empty.includes(url)).map(told);
    const open = Array.from(act.requests.values());
    const list = (all: readonly Request[]) => all.slice(0, maxTold).map(({ words }) => words);
    const underWay = list(open.filter(({ changes, words }) => changes && words !== ''));
    const awaited = list(
      open.filter(({ changes, type, words }) => !changes && words !== '' && shows.includes(type)),
    );
    const news: News = {
      ...(sent.length > 0 && { sent }),
      ...(underWay.length > 0 && { underWay }),
      ...(awaited.length > 0 && { awaited }),
      ...(opened.length > 0 && { opened }),
      ...(failedRequests.length > 0 && { failedRequests }),
      ...(downloads.length > 0 && { downloads }),
      ...(dialogs.length > 0 && { dialogs }),
    };
    bridge.send({ type: 'news', number, news });
  }

  /** A dialog was answered in another document of a tab in which something acts. */
  answered(bridge: Bridge, dialog: Dialog): void {
    for (const act of this.#in(bridge.tabId)) {
      if (act.dialogs.length >= maxTold) continue;
      const state = stateOf(act.judge, bridge);
      const text = `(of a frame of ${bridge.origin} that may not be read: ${state})`;
      act.dialogs.push(state === 'open' ? dialog : { ...dialog, text });
    }
  }

  /** A document went away, and its acts with it. */
  gone(bridge: Bridge): void {
    for (const act of this.#acts) if (act.bridge === bridge) this.#drop(act);
  }

  #find(bridge: Bridge, number: number): Act | undefined {
    for (const act of this.#acts) if (act.bridge === bridge && act.number === number) return act;
    return undefined;
  }

  #drop(act: Act): void {
    if (!this.#acts.delete(act)) return;
    this.#lend(act.bridge, undefined);
    if (this.#acts.size === 0) this.#listen(false);
  }

  // A click in one document can open the dialog of another one of its tab. Where nothing may be done, the person
  // answers.
  #lend(from: Bridge, answer: DialogAnswer | undefined, judge?: Judge): void {
    for (const bridge of this.#bridges.of(from.tabId))
      if (bridge !== from && (judge === undefined || stateOf(judge, bridge) === 'open'))
        bridge.send({ type: 'lend', ...(answer !== undefined && { answer }) });
  }

  #in(tabId: number): Act[] {
    return Array.from(this.#acts).filter(({ bridge }) => bridge.tabId === tabId);
  }

  #listen(on: boolean): void {
    const { onBeforeRequest, onCompleted, onErrorOccurred } = chrome.webRequest;
    const { onErrorOccurred: onNotNavigated } = chrome.webNavigation;
    if (on) {
      const urls = { urls: ['<all_urls>'] };
      onBeforeRequest.addListener(this.#began, urls);
      onCompleted.addListener(this.#completed, urls);
      onErrorOccurred.addListener(this.#failed, urls);
      onNotNavigated.addListener(this.#notNavigated);
      chrome.tabs.onCreated.addListener(this.#created);
    } else {
      onBeforeRequest.removeListener(this.#began);
      onCompleted.removeListener(this.#completed);
      onErrorOccurred.removeListener(this.#failed);
      onNotNavigated.removeListener(this.#notNavigated);
      chrome.tabs.onCreated.removeListener(this.#created);
    }
  }

  readonly #began = (details: chrome.webRequest.OnBeforeRequestDetails): undefined => {
    const { tabId, requestId, type, method, url, initiator } = details;
    if (besides.includes(type)) return;
    const changes = type === 'xmlhttprequest' && !reading.includes(method) && isSameSite(url, initiator);
    for (const act of this.#in(tabId)) {
      act.requests.set(requestId, { words: wordsOf(act.judge, details), changes, type });
      this.#count(act);
    }
  };

  readonly #completed = (details: Completed): void => {
    const { tabId, requestId, statusCode, url, type } = details;
    if (besides.includes(type)) return;
    for (const act of this.#in(tabId)) {
      const words = wordsOf(act.judge, details);
      if (statusCode >= 400 && type !== 'main_frame') tell(act.failed, words && `${words}: ${statusCode}`);
      else if (act.requests.get(requestId)?.changes === true)
        tell(act.sent, words && `${words}: ${statusCode}`);
      if (statusCode === 204 || statusCode === 205) tell(act.empty, shortened(url));
      if (act.requests.delete(requestId)) this.#count(act);
    }
  };

  readonly #failed = (details: Failed): void => {
    const { tabId, requestId, error, type } = details;
    if (besides.includes(type)) return;
    for (const act of this.#in(tabId)) {
      const words = wordsOf(act.judge, details);
      if (error !== 'net::ERR_ABORTED' && type !== 'main_frame')
        tell(act.failed, words && `${words}: ${error}`);
      if (act.requests.delete(requestId)) this.#count(act);
    }
  };

  // Where a page was to come and none did, it is a download, or an empty answer.
  readonly #notNavigated = ({
    tabId,
    url,
    error,
  }: chrome.webNavigation.WebNavigationFramedErrorCallbackDetails): void => {
    if (error !== 'net::ERR_ABORTED' || !isFetched(url)) return;
    for (const act of this.#in(tabId)) tell(act.downloads, shortened(url));
  };

  readonly #created = (tab: chrome.tabs.Tab): void => {
    const { id, openerTabId, url, pendingUrl } = tab;
    if (id === undefined || openerTabId === undefined || isOfBrowser(pendingUrl || url || '')) return;
    for (const act of this.#in(openerTabId)) {
      if (act.opened.length < maxTold) act.opened.push(addressOf(id));
      // What the person looks at stays in front.
      if (tab.active) act.front.then((front) => (front === undefined ? undefined : activate(front)));
    }
  };

  #count({ bridge, number, requests }: Act): void {
    bridge.send({ type: 'acting', number, requests: requests.size });
  }
}

function tell(all: string[], one: string): void {
  if (one !== '' && all.length < maxTold && !all.includes(one)) all.push(one);
}

const reading = ['GET', 'HEAD', 'OPTIONS'];

// Others open a program of the person's, such as for mail.
const isFetched = (url: string): boolean => /^(?:https?|blob|data|file|filesystem|ftp):/.test(url);

// Such as the page of a new tab, which Chrome tells as opened by the tab that was in front: a person opened it, because
// no page can open one.
const isOfBrowser = (url: string): boolean => !/^(?:$|about:blank)/.test(url) && !isFetched(url);

const shortened = (url: string): string => url.slice(0, 300);

// A request in words. Its query can hold a token: that there is one is told, and not what it says. Of a site that is
// off only the origin is told, and of what a document asks for that may not be read: nothing.
function wordsOf(
  judge: Judge,
  { method, url, initiator }: { method: string; url: string; initiator?: string | undefined },
): string {
  if (initiator !== undefined && judge(initiator === 'null' ? initiator : `${initiator}/`) !== 'open')
    return '';
  const told = judge(url) === 'off' ? toldAddress(judge, url) : url.replace(/\?.*/s, '?…');
  return `${method} ${shortened(told)}`;
}

/** What holds for a document; one of nobody's origin counts as one of a site that no rule names. */
function stateOf(judge: Judge, { url, origin }: Pick<Bridge, 'url' | 'origin'>): ReturnType<Judge> {
  return judge(/^https?:/.test(url) ? url : origin === 'null' ? origin : `${origin}/`);
}

const ownOnly =
  ({ origin }: Pick<Bridge, 'origin'>): Judge =>
  (url) =>
    originOf(url) === origin ? 'open' : 'ask';

async function frontOf(tabId: number): Promise<number | undefined> {
  try {
    const { windowId } = await chrome.tabs.get(tabId);
    const [front] = await chrome.tabs.query({ active: true, windowId });
    return front?.id;
  } catch {
    return undefined; // the tab was closed meanwhile
  }
}

const activate = (tabId: number) => chrome.tabs.update(tabId, { active: true }).catch(() => undefined);

async function addressOf(tabId: number): Promise<{ tabId: number; url: string } | undefined> {
  const until = performance.now() + openedMs;
  for (;;) {
    const tab = await chrome.tabs.get(tabId).catch(() => undefined);
    if (tab === undefined) return undefined; // closed at once, as a window of a download is
    const url = tab.pendingUrl || tab.url || 'about:blank'; // a window that has no document yet has an empty address
    // Many a page opens an empty window first, and leads it to its address then.
    if (url !== 'about:blank' || performance.now() > until) return { tabId, url: shortened(url) };
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
