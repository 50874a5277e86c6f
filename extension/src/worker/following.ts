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

/** The document that a tab shows. */
export const documentIn = async (tabId: number): Promise<string | undefined> =>
  (await chrome.webNavigation.getFrame({ tabId, frameId: 0 }))?.documentId;

type Told = Pick<chrome.webNavigation.WebNavigationFramedCallbackDetails, 'tabId' | 'frameId'>;

/**
 * Starts what leads a tab to a page, and follows it until the page is complete, has failed, or takes too long. What
 * becomes of the document that is left is no matter: one that was still loading says that this was stopped.
 */
export async function follow<T extends { tabId: number }>(
  start: () => Promise<T>,
  patience: Patience = {},
  left?: string,
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
  const before = hear((fate) => {
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
  const failed = hear((fate, { error, documentId }: Told & { error: string; documentId?: string }) => {
    if (documentId !== undefined && documentId === left) return;
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
