// Opens a tab and sees what becomes of its page: whether it loads, how far it is, and why not.

// For a page to begin, and from then on to be complete; together less than the relay waits for a command.
const beginMs = 7000;
const completeMs = 2000;

/** What became of a page. */
export interface Opened {
  tabId: number;
  windowId: number;
  status: 'complete' | 'loading';
  begun: boolean; // it shows the page already, and has its final address
  httpStatus?: number; // when the page lets it be seen
}

/** Why a page does not load. The tab is closed again. */
export class NotLoaded extends Error {}

interface Fate {
  under: number; // navigations that have neither led to a page nor failed
  begun: boolean;
  complete: boolean;
  failed: string | undefined;
}

type Told = chrome.webNavigation.WebNavigationFramedCallbackDetails;

export async function openTab(url: string, active: boolean): Promise<Opened> {
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
    <D extends Pick<Told, 'tabId' | 'frameId'>>(change: (fate: Fate, details: D) => void) =>
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
  const failed = hear((fate, { error }: Pick<Told, 'tabId' | 'frameId'> & { error: string }) => {
    fate.under--;
    // Another navigation has taken its place, or, with nothing there yet, it was a download or an empty answer.
    if (error !== 'net::ERR_ABORTED' || (!fate.begun && fate.under <= 0)) fate.failed = error;
  });
  const { onBeforeNavigate, onCommitted, onCompleted, onErrorOccurred } = chrome.webNavigation;
  onBeforeNavigate.addListener(before);
  onCommitted.addListener(committed);
  onCompleted.addListener(completed);
  onErrorOccurred.addListener(failed);
  try {
    const tab = await chrome.tabs.create({ url, active });
    if (tab.id === undefined) throw new Error('Chrome opened no tab');
    const { id: tabId, windowId } = tab;
    const fate = fateOf(tabId);
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
    await until(beginMs, () => fate.begun);
    if (fate.begun) await until(completeMs, () => fate.complete);
    if (fate.failed !== undefined) {
      await chrome.tabs.remove(tabId).catch(() => {});
      throw new NotLoaded(fate.failed);
    }
    const httpStatus = fate.begun ? await statusOf(tabId) : undefined;
    return {
      tabId,
      windowId,
      status: fate.complete ? 'complete' : 'loading',
      begun: fate.begun,
      ...(httpStatus !== undefined && { httpStatus }),
    };
  } finally {
    onBeforeNavigate.removeListener(before);
    onCommitted.removeListener(committed);
    onCompleted.removeListener(completed);
    onErrorOccurred.removeListener(failed);
  }
}

const statusMs = 500;

// The HTTP status of a tab's page; undefined where no script may look.
async function statusOf(tabId: number): Promise<number | undefined> {
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
