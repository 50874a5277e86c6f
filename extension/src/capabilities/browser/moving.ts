// Moves tabs: to another page, back and forward, away. Nothing comes to the front by it.
import { isText } from '../../shared/guards.ts';
import { Ended, type ToolHandler, type ToolRun } from '../../worker/calls/tool-runner.ts';
import { BlockedByPolicy, blockedByPolicy } from '../../worker/documents/inject.ts';
import { isBounded, keepOut, type Way } from '../../worker/tabs/border.ts';
import { type Fate, follow, leftIn, statusOf } from '../../worker/tabs/following.ts';
import { type Judge, judgeOf, type Told, toldAddress, toldPage } from '../../worker/tabs/leading.ts';
import { stoppedAt } from '../../worker/tabs/opening.ts';
import { originOf } from '../../worker/tabs/sites.ts';
import type { Tabs } from '../../worker/tabs/tabs.ts';
import { type Lookers, lookAhead } from './arriving.ts';

const knownMs = 1500; // for the relay to learn the tab's new address

/** What a tab shows now. */
interface Shown extends Told {
  status: 'complete' | 'loading';
  httpStatus?: number;
}

/** What a tab is on its way to: title and status would still be those of the page before. */
async function awaitedIn(
  tabId: number,
  to: string,
  judge: Judge,
): Promise<Pick<Shown, 'url' | 'status'> & { note: string }> {
  const { pendingUrl = to } = await chrome.tabs.get(tabId);
  const note = 'Nothing has arrived yet: until then the tab shows the previous page';
  return { url: toldAddress(judge, pendingUrl), status: 'loading', note };
}

/** What a tab shows after it was followed there. */
async function shownIn(tabs: Pick<Tabs, 'shown'>, tabId: number, fate: Fate, judge: Judge): Promise<Shown> {
  await tabs.shown(tabId, knownMs);
  const [tab, httpStatus] = await Promise.all([chrome.tabs.get(tabId), statusOf(tabId)]);
  const complete = fate.complete || tab.status === 'complete';
  return {
    ...toldPage(judge, { url: tab.url ?? tab.pendingUrl ?? '', title: tab.title }),
    status: complete ? 'complete' : 'loading',
    ...(httpStatus !== undefined && { httpStatus }),
  };
}

export function navigating(tabs: Pick<Tabs, 'shown'>, lookers: Lookers): ToolHandler {
  return async (run) => {
    const { tabId, args } = run;
    const to = isText(args.to) ? args.to : '';
    const judge = judgeOf(run.border);
    if (originOf(to) !== '' && judge(to) === 'off') throw stoppedBy(originOf(to), 'not_executed');
    const { fate, stopped } = await lead(run, to, judge);
    if (stopped !== undefined) throw stoppedBy(stopped, 'executed');
    if (fate.failed !== undefined) {
      const more = {
        category: 'not_found',
        retryable: fate.failed !== 'net::ERR_ABORTED', // a download would come twice
        outcome: 'executed',
        data: { reason: fate.failed },
      };
      throw Ended.as('PAGE_NOT_LOADED', notLoaded(to, fate.failed), more);
    }
    if (!fate.begun && fate.under <= 0) {
      if (steps.has(to)) throw nowhere(to);
      const hint = 'Ask the person: the page may ask whether it may be left, and only they can answer.';
      throw Ended.as('PAGE_STAYS', 'The tab still shows this page: it did not allow leaving', {
        category: 'validation',
        hint,
      });
    }
    if (!fate.begun) return { tabId, ...(await awaitedIn(tabId, to, judge)) };
    const until = isText(args.until) ? args.until : undefined;
    const looks = args.look === true || until !== undefined;
    const seen = looks ? await lookAhead(run, judge, lookers, until) : {};
    return { tabId, ...(await shownIn(tabs, tabId, fate, judge)), ...seen };
  };
}

// Takes the tab there, and to nothing that is off on the way.
async function lead(run: ToolRun, to: string, judge: Judge): Promise<{ fate: Fate; stopped?: string }> {
  const { tabId, frame, plugin } = run;
  const bounds = { sites: frame.sites ?? { rest: 'ask', origins: {} }, excludes: plugin.excludes };
  let way: Way | undefined;
  try {
    const left = await leftIn(tabId);
    if (isBounded(bounds)) way = await keepOut(tabId, bounds, judge);
    const start = async () => {
      await run.begins();
      await go(tabId, to);
      return { tabId };
    };
    const patience = {
      beginMs: steps.has(to) ? historyMs : Math.min(run.leftMs - 1000, 15_000),
      completeMs: Math.min(run.leftMs / 3, 5000),
    };
    const { fate } = await follow(start, patience, left);
    if (fate.begun && fate.failed === undefined) await way?.settled();
    const arrived = fate.begun || fate.failed !== undefined;
    const stopped = way && arrived ? await stoppedAt(tabId, judge, way) : undefined;
    return { fate, ...(stopped !== undefined && { stopped }) };
  } finally {
    await way?.end();
  }
}

// The relay makes a PERMISSION_DENIED of it.
function stoppedBy(origin: string, outcome: 'executed' | 'not_executed'): Ended {
  const more = { category: 'auth', outcome, data: JSON.stringify({ origin, state: 'off' }) };
  return Ended.as('SITE_STOPPED', `Stopped at ${origin}, which is off`, more);
}

async function go(tabId: number, to: string): Promise<void> {
  try {
    const step = steps.get(to);
    if (step !== undefined) await goInHistory(tabId, step);
    else if (to === 'reload') await chrome.tabs.reload(tabId);
    else await chrome.tabs.update(tabId, { url: address(to) });
  } catch (why) {
    if (why instanceof Ended || !/history/i.test(String(why))) throw why;
    throw nowhere(to);
  }
}

const steps = new Map([
  ['back', -1],
  ['forward', 1],
]);
const historyMs = 3000;

const nowhere = (to: string) =>
  Ended.as('NOT_FOUND', `There is no page to go ${to} to`, { category: 'not_found' });

// The buttons of Chrome, and chrome.tabs.goBack with them, pass over pages that no person has touched.
async function goInHistory(tabId: number, step: number): Promise<void> {
  try {
    const func = (by: number) => history.go(by);
    await chrome.scripting.executeScript({ target: { tabId }, func, args: [step], injectImmediately: true });
  } catch (why) {
    if (blockedByPolicy(why)) throw new BlockedByPolicy(); // Chrome's own way back may close the tab
    await (step < 0 ? chrome.tabs.goBack(tabId) : chrome.tabs.goForward(tabId)); // from an error of Chrome
  }
}

function address(to: string): string {
  if (/^https?:\/\//i.test(to) && URL.canParse(to)) return to;
  const message = 'to is neither an http or https address nor back, forward or reload';
  throw Ended.as('VALIDATION_ERROR', message, { category: 'validation' });
}

const words = new Map([
  ['net::ERR_NAME_NOT_RESOLVED', 'the name of the server is not known'],
  ['net::ERR_CONNECTION_REFUSED', 'nothing answers at that port'],
  ['net::ERR_CONNECTION_TIMED_OUT', 'nothing answers there'],
  ['net::ERR_INTERNET_DISCONNECTED', 'this computer is not connected to the internet'],
  ['net::ERR_EMPTY_RESPONSE', 'the server sent nothing'],
  ['net::ERR_TOO_MANY_REDIRECTS', 'it redirects in a loop'],
  ['net::ERR_HTTP_RESPONSE_CODE_FAILURE', 'the server answered with an error and no page'],
  ['net::ERR_ABORTED', 'it leads to no page, but to a download or an empty answer'],
]);

function notLoaded(to: string, reason: string): string {
  const place = URL.canParse(to) ? new URL(to).origin : 'The page';
  const plain = words.get(reason);
  return `${place} does not load: ${reason}${plain === undefined ? '' : `, ${plain}`}`;
}

const closingMs = 3000;

export const closing: ToolHandler = async (run) => {
  const { tabId } = run;
  let heard = (_: number) => {};
  const gone = new Promise<boolean>((resolve) => {
    heard = (removed) => {
      if (removed === tabId) resolve(true);
    };
    setTimeout(() => resolve(false), closingMs);
  });
  chrome.tabs.onRemoved.addListener(heard);
  try {
    await run.begins();
    const failed = chrome.tabs.remove(tabId).then(() => gone); // a page that hangs keeps Chrome waiting
    if (await Promise.race([failed, gone])) return { closed: tabId };
    const hint = 'Ask the person: the page hangs, or asks whether it may be left, and only they can answer.';
    throw Ended.as('PAGE_STAYS', 'The tab is still open: its page did not allow leaving', {
      category: 'validation',
      hint,
    });
  } finally {
    chrome.tabs.onRemoved.removeListener(heard);
  }
};
