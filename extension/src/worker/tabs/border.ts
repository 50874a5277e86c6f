// Blocks requests of a tab to sites that are off while a call navigates it, by rules of declarativeNetRequest: Chrome
// stops the request, also after a redirect, before anything is sent.
import type { Judge } from './leading.ts';
import { originOf, type Sites } from './sites.ts';

type Rule = chrome.declarativeNetRequest.Rule;
type Condition = chrome.declarativeNetRequest.RuleCondition;

const block = 'block';
const allow = 'allow';
const documents = 'main_frame';

// What is off in particular counts before what is not, and that before everything else.
const priority = { rest: 1, open: 2, off: 3 };

const settleMs = 300;

/** What may not be loaded. */
export interface Bounds {
  sites: Sites;
  excludes: readonly string[]; // patterns of pages that the person keeps from agents
}

/** Whether a tab can meet anything that is off. */
export const isBounded = ({ sites, excludes }: Bounds): boolean =>
  sites.rest === 'off' || excludes.length > 0 || Object.values(sites.origins).includes('off');

let nextId = 1 + Math.floor(Math.random() * 2 ** 30); // a worker before this one may have left rules

let forgotten: Promise<void> | undefined;

/** Takes away, once, the rules of a worker that ended while a call led a tab somewhere. */
export const forgetRules = (): Promise<void> => (forgotten ??= forget());

async function forget(): Promise<void> {
  const left = await chrome.declarativeNetRequest.getSessionRules();
  if (left.length > 0)
    await chrome.declarativeNetRequest.updateSessionRules({ removeRuleIds: left.map(({ id }) => id) });
}

/** A match pattern (https://developer.chrome.com/docs/extensions/develop/concepts/match-patterns) as RE2. */
export function regexOf(pattern: string): string {
  const quoted = (text: string) => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&');
  const parts = /^(\*|https?):\/\/([^/]*)(\/.*)$/.exec(pattern);
  if (parts === null) return '^https?://'; // all addresses
  const [, scheme = '*', authority = '*', path = '/*'] = parts;
  const host = authority.startsWith('*.') ? `([^/@]*\\.)?${quoted(authority.slice(2))}` : quoted(authority);
  const where = authority === '*' ? '[^/]*' : host.replace('*', '[^/]*');
  const port = /:\d+$/.test(authority) ? '' : '\\.?(:[0-9]+)?';
  return `^${scheme === '*' ? 'https?' : scheme}://${where}${port}${quoted(path).replaceAll('*', '.*')}`;
}

function rulesFor(tabId: number, { sites, excludes }: Bounds): Rule[] {
  const rule = (type: typeof block | typeof allow, weight: number, condition: Condition): Rule => ({
    id: nextId++,
    priority: weight,
    action: { type },
    condition: { ...condition, tabIds: [tabId], resourceTypes: [documents] },
  });
  const leadingTo = (values: string[]) => [{ header: 'location', values }];
  const rooted = (origin: string) => origin.replace(/(?=(:\d+)?$)/, '.'); // the same host, spelled to the root
  const under = (origins: readonly string[]) =>
    origins.flatMap((origin) => [origin, `${origin}/*`, `${origin.replace(/^https?:/, '')}/*`]);
  const named = Object.entries(sites.origins);
  const off = named.filter(([, state]) => state === 'off').map(([origin]) => origin);
  const others = named.filter(([, state]) => state !== 'off').map(([origin]) => origin);
  const rules = excludes.map((pattern) =>
    rule(block, priority.off, { regexFilter: regexOf(pattern), isUrlFilterCaseSensitive: true }),
  );
  for (const origin of off.flatMap((one) => [one, rooted(one)]))
    rules.push(rule(block, priority.off, { urlFilter: `|${origin}/` }));
  // A site whose service worker answers is not asked over the network: it is stopped where another one leads there.
  if (off.length > 0) rules.push(rule(block, priority.off, { responseHeaders: leadingTo(under(off)) }));
  if (sites.rest !== 'off') return rules;
  rules.push(rule(block, priority.rest, { urlFilter: '|http' }));
  for (const origin of others) rules.push(rule(allow, priority.open, { urlFilter: `|${origin}/` }));
  const { within } = sites;
  if (within === undefined || within.rest === 'off') return rules;
  for (const pattern of within.allow)
    rules.push(rule(allow, priority.open, { regexFilter: regexOf(pattern), isUrlFilterCaseSensitive: true }));
  for (const pattern of within.deny)
    rules.push(rule(block, priority.off, { regexFilter: regexOf(pattern), isUrlFilterCaseSensitive: true }));
  return rules;
}

/** The navigation of a tab while sites that are off are blocked. */
export interface Way {
  /** The origin that it was stopped at; undefined: it was not. */
  stopped(): string | undefined;
  /** Waits a moment for what a page does as soon as it is there: many are there only to lead on. */
  settled(): Promise<void>;
  end(): Promise<void>;
}

/** Blocks sites that are off for a tab, until end. */
export async function keepOut(tabId: number, bounds: Bounds, judge: Judge): Promise<Way> {
  await forgetRules();
  let last: string | undefined; // address that is off
  let wake = () => {};
  const towards = (address: string, base: string): undefined => {
    const url = URL.canParse(address, base) ? new URL(address, base).href : '';
    if (originOf(url) !== '' && judge(url) === 'off') {
      last = url;
      wake();
    }
  };
  const asked = ({ url }: chrome.webRequest.OnBeforeRequestDetails) => towards(url, url);
  const answered = ({ url, statusCode, responseHeaders }: chrome.webRequest.OnHeadersReceivedDetails) => {
    if (statusCode < 300 || statusCode > 399) return undefined;
    const location = responseHeaders?.find(({ name }) => name.toLowerCase() === 'location')?.value;
    return towards(location ?? '', url);
  };
  const here = { urls: ['<all_urls>'], types: [chrome.webRequest.ResourceType.MAIN_FRAME], tabId };
  chrome.webRequest.onBeforeRequest.addListener(asked, here);
  chrome.webRequest.onHeadersReceived.addListener(answered, here, ['responseHeaders']);
  let rules = rulesFor(tabId, bounds);
  const put = () => chrome.declarativeNetRequest.updateSessionRules({ addRules: rules });
  try {
    await put().catch(() => {
      rules = rules.filter(({ condition }) => !('responseHeaders' in condition)); // Chrome before 128 has none
      return put();
    });
  } catch (why) {
    await end();
    throw why;
  }
  async function end(): Promise<void> {
    chrome.webRequest.onBeforeRequest.removeListener(asked);
    chrome.webRequest.onHeadersReceived.removeListener(answered);
    const removeRuleIds = rules.map(({ id }) => id);
    await chrome.declarativeNetRequest.updateSessionRules({ removeRuleIds }).catch(() => {});
  }
  return {
    stopped: () => (last === undefined ? undefined : originOf(last)),
    settled: () =>
      new Promise((resolve) => {
        wake = resolve;
        if (last !== undefined) resolve();
        else setTimeout(resolve, settleMs);
      }),
    end,
  };
}
