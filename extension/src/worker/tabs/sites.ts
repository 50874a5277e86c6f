// Decides which documents a call may touch, by the rules about sites in its frame; no other code in the browser does.
// A document is judged by its origin and address; one without an origin of its own by the document that made it. No
// document around it may be off.

import type { CallFrame, PluginInfo } from '../../protocol/frames.generated.ts';
import {
  exactly,
  type Guard,
  type Guarded,
  isRecord,
  isText,
  listOf,
  optional,
  shape,
} from '../../shared/guards.ts';
import { urlAllowed } from '../../shared/patterns.ts';

export type SiteState = NonNullable<CallFrame['sites']>['rest'];
type Pages = Pick<PluginInfo, 'matches' | 'excludes'>;

const isState = exactly('open', 'ask', 'off');
const isStates: Guard<Record<string, SiteState>> = (value): value is Record<string, SiteState> =>
  isRecord(value) && Object.values(value).every(isState);

const isWithin = shape({ allow: listOf(isText), deny: listOf(isText), rest: isState });

export const isSites = shape({ rest: isState, origins: isStates, within: optional(isWithin) });
export type Sites = Guarded<typeof isSites>;

/** A document as it is judged. */
export interface Around {
  url: string;
  origin: string | undefined; // as the document has it: null, as text, for an opaque one; undefined: not known
}

/** Why a document may not be touched. */
export interface Closed {
  origin: string; // of the site that counts
  state: Exclude<SiteState, 'open'> | 'policy'; // policy: that of the browser closes it to every extension
  excluded: boolean; // the person's configuration leaves its address out
}

const isWeb = (text: string): boolean => /^https?:\/\//.test(text);

/** The origin of a web page, or of the page that made what a blob: address shows; empty: it has none. */
export function originOf(url: string): string {
  const made = url.replace(/^blob:/, '');
  return isWeb(made) && URL.canParse(made) ? new URL(made).origin : '';
}

/** What one call may touch. */
export class Border {
  readonly #sites: Sites;
  readonly #covers: (url: string) => boolean;

  constructor(sites: Sites, covers: (url: string) => boolean) {
    this.#sites = sites;
    this.#covers = covers;
  }

  /** That of a call of the browser's own tools, which keep to the addresses that the person left them. */
  static of({ sites, origin = '' }: { sites?: Sites | undefined; origin?: string }, pages: Pages): Border {
    const { matches, excludes } = pages;
    return new Border(sites ?? only(origin), (url) => urlAllowed(url, matches, excludes));
  }

  state(origin: string): SiteState {
    const { origins, rest, within } = this.#sites;
    const site = origin.replace(/\.(?=(:\d+)?$)/, ''); // example.org. is example.org, spelled to the root
    const named = Object.hasOwn(origins, site) ? origins[site] : undefined;
    if (named !== undefined || within === undefined) return named ?? rest;
    return urlAllowed(`${site}/`, within.allow, within.deny) ? within.rest : rest;
  }

  /** What holds for the page at an address, before its document is there. */
  ahead(url: string): SiteState {
    const origin = originOf(url);
    if (origin === '') return url.startsWith('about:') ? 'open' : this.state('null');
    return isWeb(url) && !this.#covers(url) ? 'off' : this.state(origin);
  }

  /** What closes a document; undefined: it may be touched. The chain begins with it, and ends with the tab's page. */
  closed(chain: readonly Around[]): Closed | undefined {
    let found: Closed | undefined;
    let made = true; // this document, or one that made it
    for (const { url, origin } of chain) {
      const excluded = isWeb(url) && !this.#covers(url);
      for (const site of new Set([originOf(url), origin])) {
        if (site === undefined || !isWeb(site)) continue;
        const state = excluded ? 'off' : this.state(site);
        if (state === 'open' || !(made || state === 'off')) continue;
        if (found === undefined || (found.state === 'ask' && state === 'off'))
          found = { origin: site, state, excluded };
      }
      if (isWeb(url) && origin !== 'null') made = false;
    }
    const nobody = chain.every(({ url, origin }) => !isWeb(originOf(url) || (origin ?? '')));
    const state = this.state('null');
    return nobody && state !== 'open' ? { origin: 'null', state, excluded: false } : found;
  }
}

/** The site of a document in a sentence. The chain begins with it, as for {@link Border.closed}. */
export const siteOf = (chain: readonly Around[]): string =>
  chain.map(({ url, origin = '' }) => originOf(url) || origin).find(isWeb) ?? 'null';

// The sites of a call frame without any: an older relay has decided about the origin of the call only.
export const only = (origin: string): Sites => ({ rest: 'ask', origins: { [origin]: 'open' } });

/** How a look tells of a document that it leaves out. */
export const notReadable = ({ origin, state }: Closed): string =>
  `${origin} not readable: ${state === 'policy' ? 'closed to extensions by the policy of this browser' : state}`;

/** How an agent gets at a frame that needs the person's word. */
export const howToAsk = '(pass its ref, and the person is asked)';

/** Why a call ends in which a closed document was to be touched. */
export function sayClosed({ origin, state, excluded }: Closed, within: string): string {
  if (state === 'policy')
    return `The policy of the organization that manages this browser keeps extensions off ${origin}`;
  const why = excluded
    ? 'is excluded by the configuration'
    : state === 'off'
      ? 'is off'
      : 'needs the person’s permission';
  return `${origin}${origin === within ? '' : `, in a page of ${within},`} ${why}`;
}

/** A document in a tab, with those around it. */
export interface Standing {
  frameId: number;
  parentFrameId: number;
  documentId: string;
  url: string;
  chain: Around[]; // from it to the tab's page
}

/** The documents in a tab. known says the origin of those whose bridge does. */
export async function standing(
  tabId: number,
  known: (documentId: string) => string | undefined,
): Promise<Standing[]> {
  const frames = (await chrome.webNavigation.getAllFrames({ tabId })) ?? [];
  const origins = new Map<string, string>();
  const unknown: string[] = [];
  for (const { documentId, url } of frames) {
    const origin = known(documentId);
    if (origin !== undefined) origins.set(documentId, origin);
    else if (!isWeb(url)) unknown.push(documentId);
  }
  for (const [documentId, origin] of await originsIn(tabId, unknown)) origins.set(documentId, origin);
  const byFrame = new Map(frames.map((frame) => [frame.frameId, frame]));
  return frames.flatMap(({ frameId, parentFrameId, documentId, url }) => {
    const chain: Around[] = [];
    let last = -1;
    for (let at = byFrame.get(frameId); at !== undefined && chain.length <= frames.length; ) {
      chain.push({ url: at.url, origin: origins.get(at.documentId) });
      last = at.frameId;
      at = byFrame.get(at.parentFrameId);
    }
    return last === 0 ? [{ frameId, parentFrameId, documentId, url, chain }] : []; // else it is in another page
  });
}

// Only a document itself knows whose it is when its address does not say so.
async function originsIn(tabId: number, documentIds: readonly string[]): Promise<[string, string][]> {
  const asked = documentIds.map(async (documentId): Promise<[string, string][]> => {
    const target = { tabId, documentIds: [documentId] };
    const [said] = await chrome.scripting
      .executeScript({ target, injectImmediately: true, func: () => globalThis.origin })
      .catch(() => []); // Chrome lets nobody in
    return isText(said?.result) ? [[documentId, said.result]] : [];
  });
  return (await Promise.all(asked)).flat();
}
