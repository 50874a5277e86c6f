// Follows a tab to its page: whether it loads, how far it is, and why not.

// For a page to begin, and from then on to be complete; together less than the relay waits for a command.
const beginMs = 7000;
const completeMs = 2000;

/** What became of a page. */
export interface Fate {
  under: number; // navigations that have neither led to a page nor failed
  begun: boolean;
  complete: boolean;
  failed: string | undefined; // Chrome's word for it
}

/** How long to wait; each has a default. */
export interface Patience {
  beginMs?: number;
  completeMs?: number;
}

/** What a tab is led away from: the document that it shows, and the page that it is on its way to, if any. */
export interface Left {
  documentId: string | undefined;
  pending: string; // an address
}

export async function leftIn(tabId: number): Promise<Left> {
  const [frame, tab] = await Promise.all([
    chrome.webNavigation.getFrame({ tabId, frameId: 0 }),
    chrome.tabs.get(tabId),
  ]);
  return { documentId: frame?.documentId, pending: tab.pendingUrl ?? '' };
}

type Told = Pick<chrome.webNavigation.WebNavigationFramedCallbackDetails, 'tabId' | 'frameId' | 'url'>;

/**
 * Starts what leads a tab to a page, and follows it until the page is complete, has failed, or takes too long. What
 * becomes of what is left is no matter: a document that was still loading says that this was stopped, and so does a
 * page that was under way.
 */
export async function follow<T extends { tabId: number }>(
  start: () => Promise<T>,
  patience: Patience = {},
  left?: Left,
): Promise<T & { fate: Fate }> {
  const fates = new Map<number, Fate>();
  let moved = () => {};
  const fateOf = (tabId: number): Fate => {
    const known = fates.get(tabId);
    if (known !== undefined) return known;
    const fate = { under: 0, begun: false, complete: false, failed: undefined };
    fates.set(tabId, fate);
    return fate;
  };
  const hear =
    <D extends Told>(change: (fate: Fate, details: D) => void) =>
    (details: D) => {
      if (details.frameId !== 0) return;
      change(fateOf(details.tabId), details);
      moved();
    };
  const begun = new Set<string>(); // addresses
  let awaited = (left?.pending ?? '') !== ''; // what becomes of the page that was under way
  const before = hear((fate, { url }: Told) => {
    begun.add(url);
    fate.under++;
    fate.complete = false;
  });
  const committed = hear((fate) => {
    fate.under--;
    fate.begun = true;
  });
  const completed = hear((fate) => {
    fate.complete = true;
  });
  const within = hear((fate) => {
    fate.begun = true; // another place in the same document
    fate.complete = fate.under <= 0;
  });
  const failed = hear((fate, { url, error, documentId }: Told & { error: string; documentId?: string }) => {
    if (documentId !== undefined && documentId === left?.documentId) return;
    const stopped = error === 'net::ERR_ABORTED';
    const isAwaited = url === left?.pending;
    if (awaited && (stopped ? isAwaited || !begun.has(url) : isAwaited && !begun.has(url))) {
      awaited = false;
      return;
    }
    fate.under--;
    // Another navigation has taken its place, or, with nothing there yet, it was a download or an empty answer.
    if (error !== 'net::ERR_ABORTED' || (!fate.begun && fate.under <= 0)) fate.failed = error;
  });
  const { webNavigation } = chrome;
  webNavigation.onBeforeNavigate.addListener(before);
  webNavigation.onCommitted.addListener(committed);
  webNavigation.onCompleted.addListener(completed);
  webNavigation.onErrorOccurred.addListener(failed);
  webNavigation.onHistoryStateUpdated.addListener(within);
  webNavigation.onReferenceFragmentUpdated.addListener(within);
  try {
    const started = await start();
    const fate = fateOf(started.tabId);
    const until = (ms: number, there: () => boolean) =>
      new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        moved = () => {
          if (fate.failed === undefined && !there()) return;
          clearTimeout(timer);
          resolve();
        };
        moved();
      });
    await until(patience.beginMs ?? beginMs, () => fate.begun);
    if (fate.begun) await until(patience.completeMs ?? completeMs, () => fate.complete);
    return { ...started, fate };
  } finally {
    webNavigation.onBeforeNavigate.removeListener(before);
    webNavigation.onCommitted.removeListener(committed);
    webNavigation.onCompleted.removeListener(completed);
    webNavigation.onErrorOccurred.removeListener(failed);
    webNavigation.onHistoryStateUpdated.removeListener(within);
    webNavigation.onReferenceFragmentUpdated.removeListener(within);
  }
}

const statusMs = 500;

/** The HTTP status of a tab's page; undefined where no script may look. */
export async function statusOf(tabId: number): Promise<number | undefined> {
  const asked = chrome.scripting
    .executeScript({
      target: { tabId },
      injectImmediately: true,
      func: () => {
        const [navigation] = performance.getEntriesByType('navigation');
        return navigation instanceof PerformanceNavigationTiming ? navigation.responseStatus : 0;
      },
    })
    .then(
      ([answer]) => answer?.result || undefined,
      () => undefined,
    );
  const late = new Promise<undefined>((resolve) => setTimeout(() => resolve(undefined), statusMs));
  return Promise.race([asked, late]);
}
