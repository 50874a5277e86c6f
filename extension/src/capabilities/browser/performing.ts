// Acts in a page: done in the document that their references are of, and followed to the page they lead to.

import { isRecord, isText } from '../../shared/guards.ts';
import type { Documents } from '../../worker/calls/documents.ts';
import { Ended, type ToolHandler, type ToolRun } from '../../worker/calls/tool-runner.ts';
import type { Bridge } from '../../worker/documents/bridges.ts';
import { judgeOf, toldAddress, toldPage } from '../../worker/tabs/leading.ts';
import type { Acts } from './acts.ts';
import { firstLook, type Lookers, lookAhead } from './arriving.ts';
import { ofSeveralFrames, type Places } from './places.ts';

const arriveMs = 10_000; // for a page to begin
const loadMs = 3000; // for it to be loaded, once it has begun

const goneMs = 300; // for a page to have begun, where the document of an act is gone
// What is done at one go: once begun, all of it is done.
const atOnce = ['click', 'pointer', 'upload'];

function isAtOnce(tool: unknown, { keys }: Record<string, unknown>): boolean {
  const oneKey = tool === 'press' && isText(keys) && !/\S\s+\S/.test(keys);
  return oneKey || (isText(tool) && atOnce.includes(tool));
}

/** The steps of an act that has several, and none of any other. */
const stepsOf = ({ args }: ToolRun): readonly unknown[] => (Array.isArray(args.steps) ? args.steps : []);

// What went with its document is not known of the steps that were done before the last.
const untold = 'What came of the steps before it went with the page';

/** What is said of an act whose document went while one of its steps was done. */
function withSteps(run: ToolRun, step: number, said: Record<string, unknown>): Record<string, unknown> {
  const asked = stepsOf(run).length;
  if (asked === 0) return said;
  const before = Array.from({ length: step - 1 }, () => ({ outcome: 'executed' }));
  const notDone = asked - step;
  return {
    ...(notDone > 0 && { notDone }),
    ...(step > 1 && { note: untold }),
    steps: [...before, said],
  };
}

const closed = { closed: true, note: 'It was done, and the tab is closed' };

const stays = 'The page did not leave after all: what is left can be done with another call';

const isGoneMeanwhile = (why: unknown): boolean => why instanceof Ended && why.code === 'TAB_CHANGED';

/** How a navigation ended. */
type Arrival =
  | { kind: 'arrived'; documentId: string }
  | { kind: 'failed'; error: string }
  | { kind: 'stayed' } // a download, an empty answer, or one that was stopped
  | { kind: 'closed' } // the tab
  | { kind: 'late' };

interface Journey {
  arrival(ms: number): Promise<Arrival>;
  loaded(ms: number): Promise<void>;
  end(): void;
}

/** Follows the navigations of a page, or of a frame of it, from now on, away from the document it has. */
function follow({ tabId, frameId, documentId }: Pick<Bridge, 'tabId' | 'frameId' | 'documentId'>): Journey {
  const heard: Arrival[] = [];
  let loaded = false;
  let wake = () => {};
  const mine = (details: { tabId: number; frameId: number }) =>
    details.tabId === tabId && details.frameId === frameId;
  const committed = (details: chrome.webNavigation.WebNavigationTransitionCallbackDetails) => {
    if (!mine(details)) return;
    loaded = false;
    heard.push({ kind: 'arrived', documentId: details.documentId ?? '' });
    wake();
  };
  const failed = (details: chrome.webNavigation.WebNavigationFramedErrorCallbackDetails) => {
    // A document that is left before it was loaded says that its loading was stopped: nothing else has come of that.
    if (!mine(details) || details.documentId === documentId) return;
    heard.push(
      details.error === 'net::ERR_ABORTED' ? { kind: 'stayed' } : { kind: 'failed', error: details.error },
    );
    wake();
  };
  const complete = (details: chrome.webNavigation.WebNavigationFramedCallbackDetails) => {
    if (!mine(details)) return;
    loaded = true;
    wake();
  };
  const removed = (id: number) => {
    if (id !== tabId) return;
    heard.push({ kind: 'closed' });
    wake();
  };
  const { onCommitted, onErrorOccurred, onDOMContentLoaded } = chrome.webNavigation;
  chrome.tabs.onRemoved.addListener(removed);
  onCommitted.addListener(committed);
  onErrorOccurred.addListener(failed);
  onDOMContentLoaded.addListener(complete);
  const until = async (ms: number, there: () => boolean) => {
    const end = performance.now() + ms;
    while (!there() && performance.now() < end)
      await new Promise<void>((resolve) => {
        wake = resolve;
        setTimeout(resolve, end - performance.now());
      });
  };
  return {
    async arrival(ms) {
      await until(ms, () => heard.length > 0);
      return heard.at(-1) ?? { kind: 'late' };
    },
    loaded: (ms) => until(ms, () => loaded),
    end() {
      chrome.tabs.onRemoved.removeListener(removed);
      onCommitted.removeListener(committed);
      onErrorOccurred.removeListener(failed);
      onDOMContentLoaded.removeListener(complete);
    },
  };
}

/** What the arguments of an act name, and those of its fields and steps. */
function references(args: Record<string, unknown>): string[] {
  const of = (value: unknown): string[] => {
    if (Array.isArray(value)) return value.flatMap(of);
    if (!isRecord(value)) return [];
    return [...[value.ref, value.to].filter(isText), ...of(value.fields), ...of(value.steps)];
  };
  return of(args);
}

const isReference = (ref: string): boolean => /^(?:f\d+)?e\d+$/.test(ref);
const isInWords = (ref: string): boolean => ref.includes('"');

// What the act would do is only told.
const isPreview = ({ args }: ToolRun): boolean => isRecord(args._) && args._.preview === true;

async function documentOf(
  run: ToolRun,
  documents: Documents,
  { bridge: pointed, args }: { bridge: Bridge | undefined; args: Record<string, unknown> },
): Promise<Bridge> {
  const named = references(args);
  let found = pointed;
  for (const ref of named.filter(isReference)) {
    const bridge = await documents.of(run, ref);
    found ??= bridge;
    if (found !== bridge) throw ofSeveralFrames();
  }
  if (found !== undefined) return found;
  return named.some(isInWords) ? withWords(run, documents, args) : documents.of(run, undefined);
}

type Place = 'there' | 'refused' | 'none';

// The document in which words name what is acted on: the page, or a frame in it.
async function withWords(run: ToolRun, documents: Documents, args: Record<string, unknown>): Promise<Bridge> {
  const { bridges } = await documents.all(run);
  const [top] = bridges;
  if (top === undefined || bridges.length === 1) return documents.of(run, undefined);
  const asked = { ...args, _: { preview: true, now: true } };
  const places = await Promise.all(
    bridges.map((bridge) => run.ask(bridge, run.frame.tool, asked).then((): Place => 'there', placeOf)),
  );
  const those = (place: Place) => bridges.filter((_, i) => places[i] === place);
  const [found, another] = those('there');
  // Where it is nowhere, the document that says why, before one in which nothing is called so.
  if (another === undefined) return found ?? those('refused')[0] ?? top;
  const hint = 'Take a snapshot, and use the reference of the one that is meant.';
  throw Ended.as('VALIDATION_ERROR', 'The words name something in several frames of the page', {
    category: 'validation',
    hint,
  });
}

function placeOf(why: unknown): Place {
  const isOfTarget = why instanceof Ended && why.ending.status === 'threw' && refusals.test(why.code);
  return isOfTarget ? 'refused' : 'none';
}

// What a document says of a target that it has; one that does not answer has none.
const refusals = /^(?:VALIDATION_ERROR|TARGET_\w+|SENSITIVE_FIELD|NEEDS_TRUSTED_INPUT)$/;

/** The words that are to come of the last step that was done. */
function untilOf({ args }: ToolRun, effect: Record<string, unknown>): string | undefined {
  const asked: unknown =
    Array.isArray(args.steps) && Array.isArray(effect.steps) && args.steps[effect.steps.length - 1];
  return isRecord(asked) && isText(asked.until) ? asked.until : undefined;
}

/** Carries out an act, and looks at the page it leads to. */
export function performing(
  documents: Documents,
  places: Pick<Places, 'find'>,
  lookers: Lookers,
  acts: Pick<Acts, 'expect' | 'actedOn'>,
): ToolHandler {
  return async (run) => {
    const placed = await places.find(run);
    const { args } = placed;
    const bridge = await documentOf(run, documents, placed);
    if (isPreview(run)) return run.part(bridge, run.frame.tool, args);
    run.isFor(bridge);
    const journey = follow(bridge);
    const around = bridge.frameId === 0 ? journey : follow({ ...bridge, frameId: 0, documentId: '' });
    const judge = judgeOf(run.border);
    acts.expect(bridge, judge); // what an earlier act did there says nothing of this one
    try {
      const effect = await run.part(bridge, run.frame.tool, args).catch(async (why: unknown) => {
        const known = acts.actedOn(bridge);
        if (!isGoneMeanwhile(why) || known === undefined) throw why;
        const own = stepsOf(run)[known.step - 1];
        const isDone = isRecord(own) ? isAtOnce(own.tool, own) : isAtOnce(run.frame.tool, args);
        if (!isDone) throw why;
        return withSteps(run, known.step, await withoutDocument(run, known.on));
      });
      if (!isRecord(effect)) return effect;
      const last = Array.isArray(effect.steps) ? effect.steps.at(-1) : effect;
      if (!isRecord(last) || !isText(last.leaving)) return effect;
      Object.assign(last, await outcomeOf(run, bridge, last.leaving, untilOf(run, effect)));
      if (last.stayed === true && 'notDone' in effect)
        effect.note = [effect.note, stays].filter(isText).join('. ');
      delete last.stayed;
      return effect;
    } finally {
      journey.end();
      around.end();
    }

    // The act was done, and took its document away before it could say so: a window closes itself, a frame goes.
    async function withoutDocument(run: ToolRun, on: string): Promise<Record<string, unknown>> {
      const arrival = await around.arrival(Math.min(goneMs, run.leftMs));
      const said = { outcome: 'executed', ...(on !== '' && { on }) };
      if (arrival.kind === 'closed') return { ...said, ...closed };
      if (arrival.kind === 'arrived') await around.loaded(Math.min(loadMs, run.leftMs));
      const tab = await chrome.tabs.get(run.tabId);
      const seen = await firstLook(judge(tab.url ?? ''), () => lookers.look(run));
      const arrived = arrival.kind === 'arrived';
      const went = arrived ? 'The tab went to another page' : 'Its frame went away, or to another page';
      const told = toldPage(judge, tab);
      const note = `It was done. ${went}`;
      return {
        ...said,
        ...seen,
        ...(arrived && told),
        note: [note, arrived ? told.note : undefined].filter(isText).join('. '),
      };
    }

    async function outcomeOf(
      run: ToolRun,
      from: Bridge,
      address: string,
      until: string | undefined,
    ): Promise<Record<string, unknown>> {
      const to = toldAddress(judge, address);
      const arrival = await journey.arrival(Math.min(arriveMs, run.leftMs));
      if (arrival.kind === 'failed')
        return { leaving: undefined, note: `The page at ${to} could not be loaded: ${arrival.error}` };
      if (arrival.kind === 'closed') return { leaving: undefined, ...closed };
      if (arrival.kind === 'late') return { note: `The page at ${to} has not begun yet: look again later` };
      if (arrival.kind === 'stayed') {
        const settled = await run.part(from, run.frame.tool, { _: { settle: true } });
        return { leaving: undefined, ...(isRecord(settled) && settled), stayed: true };
      }
      await journey.loaded(Math.min(loadMs, run.leftMs));
      const seen = { leaving: undefined, ...(await lookAhead(run, judge, lookers, until)) };
      const tab = await chrome.tabs.get(run.tabId);
      if (from.frameId !== 0) return { ...seen, note: `The frame went to ${to}` };
      return { ...seen, ...toldPage(judge, tab) };
    }
  };
}
