// The first look at a page that a call led to, once it has what the caller waits for.
import { Ended, type ToolRun } from '../../worker/calls/tool-runner.ts';
import { BlockedByPolicy } from '../../worker/documents/inject.ts';
import type { Judge } from '../../worker/tabs/leading.ts';

const comesMs = 10_000; // for words that are to come of it
const lookMs = 2000; // for the look after that

/** What those who lead to pages need from those who look at them. */
export interface Lookers {
  look(run: ToolRun): Promise<string>;
  wait(run: ToolRun, condition: Record<string, unknown>): Promise<unknown>;
}

/** What is said of a page at which the caller looks as it arrives there. */
interface Seen {
  missing?: string; // words that were to come, and did not
  page?: string;
  notLooked?: string; // why there is no look, where one was allowed
}

/** Waits for words of the page that a tab shows, and looks at it. */
export async function lookAhead(
  run: ToolRun,
  judge: Judge,
  lookers: Lookers,
  until: string | undefined,
): Promise<Seen> {
  const missing = until && (await notCome(run, judge, lookers, until));
  const { url = '' } = await chrome.tabs.get(run.tabId);
  const seen = await firstLook(judge(url), () => lookers.look(run));
  return { ...(missing && { missing }), ...seen };
}

/** Where the agent is not allowed, it is told of the page and does not look at it. */
export async function firstLook(
  site: ReturnType<Judge>,
  look: () => Promise<string>,
): Promise<Pick<Seen, 'page' | 'notLooked'>> {
  if (site !== 'open') return {};
  const once = async () => ({ page: await look() });
  // Many a page leads on to another one at once: that one is looked at then.
  return once().catch(() => once().catch((why: unknown) => ({ notLooked: saidWhy(why) })));
}

function saidWhy(why: unknown): string {
  // A snapshot could not, either.
  if (why instanceof BlockedByPolicy) return `The page cannot be looked at: ${why.message}`;
  const known = why instanceof Ended && why.ending.status === 'threw' ? `: ${why.ending.error.message}` : '';
  return `The page could not be looked at${known}. Take a snapshot`;
}

async function notCome(
  run: ToolRun,
  judge: Judge,
  { wait }: Lookers,
  words: string,
): Promise<string | undefined> {
  const { url = '' } = await chrome.tabs.get(run.tabId);
  if (judge(url) !== 'open') return undefined; // nobody may look there
  const timeoutMs = Math.min(comesMs, run.leftMs - lookMs);
  return wait(run, { text: words, timeoutMs }).then(
    () => undefined,
    () => words,
  );
}
