// What an act changed: the page is watched from before it until it is quiet again, and nothing is claimed that was
// not seen.

import type { Mark } from '../changes.ts';
import { redact } from '../dev/redact.ts';
import { displayed } from '../waiting.ts';
import { named } from '../words.ts';
import { type Departure, watchDeparture } from './departure.ts';
import { documentFor, eventsSent, heedEvents, isSelect } from './dom.ts';
import { NotDone } from './failure.ts';
import { takesText } from './fields.ts';
import type { DialogAnswer, News, Page, Watch } from './page.ts';
import { type Signs, watchSigns } from './signs.ts';

/** What the caller reads of an act. */
export interface Effect extends News {
  outcome: 'executed';
  changes?: string; // lines of the tree that are new or gone
  url?: string;
  title?: string;
  leaving?: string; // the address the tab is on its way to
  focused?: string;
  scrolled?: true;
  noEffect?: true;
  note?: string;
  missing?: string; // words that were to come, and did not
}

const longestMs = 500;
const quietMs = 30;
const afterAnswerMs = 50; // a page may do something with what it was answered before it shows it
const lookMs = 10;

/** What is watched while an act goes on. */
interface Scene {
  page: Page;
  watch: Watch;
  mark: Mark;
  signs: Signs;
  departure: Departure;
  looked?: { at: number; changes: string[] }; // what was different, and when that was
  busyAt?: number; // when requests were under way last
}

let typedAt = 0; // when something was done that a page may still answer, such as with suggestions

/** Has the page watched for what is still to come: suggestions do, when nothing more is typed for a while. */
export function moreMayCome(): void {
  typedAt = performance.now();
}

let isSeenEnough = false;

/** Says that what was asked for was seen, though no line tells it: a page that does nothing is not waited for. */
export function seenEnough(): void {
  isSeenEnough = true;
}

let seenAt = () => 0;

/** Whether anything was seen in the page since more may come. */
export const moreCame = (): boolean => seenAt() > typedAt;

let actedOn = ''; // in words

/** Says what the act goes on to act on, for where its document goes before it can. */
export function actsOn(words: string): void {
  actedOn = words;
}

let readAgain: (effect: Effect) => string | undefined = () => undefined; // what the page can have taken back

/** Says how to read again what was done, once the page is quiet; what it returns is a note. */
export function whenQuiet(read: typeof readAgain): void {
  readAgain = read;
}

let leaves = () => false;

/** Whether the act that goes on makes the page go elsewhere: what is left of it is not done then. */
export const isLeaving = (): boolean => leaves();

let unsettled: Scene | undefined; // an act after which the page was to leave

/** What an act says of itself. */
export interface Said {
  on?: string; // what was acted on
  note?: string;
  selected?: string; // text, which no line tells
}

/** How an act is watched. */
export interface Watched {
  dialogs: DialogAnswer;
  forFocus: boolean; // it goes for the focus of a field, and is told that it got it
  until?: string | undefined; // words that are to come of it
}

// The events by which an act is done. A page that goes before it got one of them may not have been acted on.
const deciding = new Set([
  'click',
  'auxclick',
  'contextmenu',
  'pointerup',
  'mouseup',
  'drop',
  'keydown',
  'change',
]);

/** Runs an act and tells what came of it. */
export async function effectOf<More extends Said>(
  page: Page,
  { dialogs, forFocus, until }: Watched,
  act: () => Promise<More>,
): Promise<Effect & More> {
  if (unsettled !== undefined) leaveScene(unsettled);
  typedAt = 0;
  isSeenEnough = false;
  actedOn = '';
  readAgain = () => undefined;
  const watching = page.watch(dialogs);
  const mark = page.mark(); // while the worker begins to watch
  const watch = await watching;
  const scene: Scene = { page, watch, mark, signs: watchSigns(), departure: watchDeparture(dialogs) };
  leaves = () => scene.departure.to() !== undefined;
  seenAt = () => Math.max(scene.signs.lastAt(), scene.signs.fetchedAt(), scene.busyAt ?? 0);
  const sent = eventsSent();
  let isDecided = false;
  heedEvents((target, type) => {
    if (!isDecided && deciding.has(type)) watch.touched(actedOn);
    isDecided ||= deciding.has(type);
    scene.signs.near(target);
  });
  try {
    const more = await act().catch((why: unknown) => {
      throw truthful(why, sent);
    });
    await quiet(scene);
    const missing = until === undefined ? undefined : await notCome(scene, until);
    const leaving = scene.departure.to();
    if (leaving !== undefined) {
      // Said at once: the next document can take this one's place at any moment.
      unsettled = scene;
      return { outcome: 'executed', leaving, ...more };
    }
    const effect = found(scene, await watch.end(), more.on ?? '', forFocus);
    const last = readAgain(effect);
    if (more.selected !== undefined && more.selected !== '') delete effect.noEffect;
    if (missing !== undefined) effect.missing = missing;
    return { ...effect, ...more, ...noted(effect.note, more.note, last) };
  } finally {
    heedEvents(undefined);
    if (unsettled !== scene) leaveScene(scene);
  }
}

/** What came of an act after which the page did not leave after all: it was a download, or an empty answer. */
export async function settle(): Promise<Effect> {
  const scene = unsettled;
  if (scene === undefined) return { outcome: 'executed' };
  scene.departure.stays();
  await quiet(scene);
  try {
    return found(scene, await scene.watch.end(), '', false);
  } finally {
    leaveScene(scene);
  }
}

function leaveScene(scene: Scene): void {
  if (unsettled === scene) unsettled = undefined;
  scene.signs.end();
  scene.departure.end();
  scene.watch.end();
}

// A failure says that nothing was done only where nothing was.
function truthful(why: unknown, sent: number): unknown {
  if (!(why instanceof NotDone)) return why;
  const acted = (why.eventsBefore ?? eventsSent()) > sent;
  if (acted) why.outcome = 'executed';
  else if (why.code === 'SENSITIVE_FIELD') return why; // its message is the field
  const left = why.eventsBefore === undefined ? 'nothing was done' : 'it was not pressed';
  why.message += acted ? '; what was done before that stays done' : `; ${left}`;
  return why;
}

async function quiet(scene: Scene): Promise<void> {
  await settled(scene);
  const { page, signs, departure } = scene;
  if (departure.to() === undefined && !isDifferent(scene)) await signs.restless((ms) => page.pause(ms));
}

const comesMs = 10_000;
const againMs = 100;

// Waits for words that are to come of an act: those that do not. Where the page leaves, the next one may have them.
async function notCome({ page, departure }: Scene, words: string): Promise<string | undefined> {
  const until = performance.now() + comesMs;
  for (;;) {
    const from = performance.now();
    if (departure.to() !== undefined) return undefined;
    if (displayed(words)) break;
    const now = performance.now();
    if (now >= until) return words;
    await page.pause(Math.max(againMs, now - from)); // in a large page looking must not take all of its time
  }
  await page.pause(quietMs); // what belongs to them comes with them
  return undefined;
}

async function settled(scene: Scene): Promise<void> {
  const { page, signs, departure, watch } = scene;
  const from = performance.now();
  await page.pause(0);
  let knownAt = 0; // when the worker was asked last which requests are under way
  for (;;) {
    if (departure.to() !== undefined) return;
    const now = performance.now();
    const leftMs = longestMs - (now - from);
    if (watch.busy()) scene.busyAt = now;
    const changedAt = signs.answeredAt();
    // A page goes on with what it was answered.
    const answeredAt = Math.max(scene.busyAt ?? 0, signs.fetchedAt());
    const last = changedAt <= typedAt ? 0 : Math.max(changedAt, answeredAt);
    const quietAt = last > 0 ? Math.max(changedAt + quietMs, answeredAt + afterAnswerMs) : from + longestMs;
    if (leftMs <= 0) return;
    if (isSeenEnough && last === 0 && now - from >= afterAnswerMs) return;
    if (now >= quietAt && knownAt < last) {
      // On a busy machine it hears of them late. The page is looked at meanwhile.
      knownAt = now;
      const known = watch.known();
      isDifferent(scene);
      await Promise.race([known, page.pause(leftMs)]);
      continue;
    }
    // Where nothing was seen at all, or nothing that is shown, what comes late would be missed.
    if (now >= quietAt && isDifferent(scene)) return;
    await page.pause(now < quietAt ? Math.min(lookMs, quietAt - now) : lookMs);
  }
}

// An address alone is none: an application of one page draws what belongs to it only then, after it has taken away what
// was there and said its title.
function isDifferent(scene: Scene): boolean {
  const changes = changesOf(scene);
  if (location.href !== scene.signs.url) return changes.some((line) => !line.startsWith('-'));
  return changes.length > 0 || document.title !== scene.signs.title;
}

function changesOf(scene: Scene): string[] {
  const at = scene.signs.answeredAt();
  if (scene.looked === undefined || at === 0 || scene.looked.at !== at)
    scene.looked = { at, changes: scene.page.changesSince(scene.mark) };
  return scene.looked.changes;
}

function found(
  scene: Scene,
  { sent: allSent = [], awaited: allAwaited = [], ...outside }: News,
  on: string,
  forFocus: boolean,
): Effect {
  const { page, signs, departure } = scene;
  const effect: Effect = { outcome: 'executed' };
  const [sent, awaited] = [allSent.map(redact), allAwaited.map(redact)];
  const changes = changesOf(scene);
  if (changes.length > 0) effect.changes = changes.join('\n');
  if (location.href !== signs.url) effect.url = location.href;
  if (document.title !== signs.title) effect.title = document.title;
  const focus = signs.focus();
  if (focus !== null && focus !== documentFor(focus).body) effect.focused = briefly(page.describe(focus));
  if (signs.scrolled()) effect.scrolled = true;
  Object.assign(effect, outside, told(outside));
  const asked = departure.asked();
  if (asked !== undefined) effect.dialogs = [...(effect.dialogs ?? []), asked];
  const download = departure.download();
  if (download !== undefined) effect.downloads = [...(effect.downloads ?? []), download];
  if (sent.length > 0 && changes.length === 0) effect.sent = sent;
  if (awaited.length > 0 && changes.length === 0) effect.underWay = [...(effect.underWay ?? []), ...awaited];
  // That what was acted on has the focus now is no effect, and neither is that the page complains of itself.
  const itself =
    focus !== null && !(forFocus && goesForFocus(focus)) && on.includes(`[${page.reference(focus)}]`);
  const none = ['outcome', 'consoleErrors', ...(itself ? ['focused'] : [])];
  const note =
    !isSeenEnough && Object.keys(effect).every((key) => none.includes(key))
      ? noteOfNothing(scene, effect)
      : undefined;
  return { ...effect, ...noted(note, ...notesOf(scene)) };
}

const mostOfText = 60; // characters of a part of the page that has the focus: its lines say the rest

const briefly = (said: string): string =>
  said.length > mostOfText ? said.replace(/^(text \[[^\]]+\]): ".*"$/s, '$1') : said;

// What the page wrote and asked for, without credentials.
function told({ consoleErrors, failedRequests }: News): Partial<Effect> {
  return {
    ...(consoleErrors !== undefined && { consoleErrors: consoleErrors.map(redact) }),
    ...(failedRequests !== undefined && { failedRequests: failedRequests.map(redact) }),
  };
}

const goesForFocus = (focus: Element): boolean => takesText(focus) || isSelect(focus);

// Where no line is different: what can be said of that.
function noteOfNothing({ page, signs }: Scene, effect: Effect): string | undefined {
  const restyled = signs.restyled();
  if (restyled.length > 0) {
    const what = restyled.map((one) => `${page.describe(one.element)} (${one.what})`).join(', ');
    return `Only how something looks changed: ${what}`;
  }
  if (signs.refused().length > 0) return undefined;
  if (signs.drawsItself())
    return 'No line is different. What a canvas draws is not seen here: take a screenshot';
  if (signs.drewAnew()) return 'Only how something looks changed, in what the page drew anew';
  effect.noEffect = true;
  if (signs.lastAt() > 0) return 'Something in the page changed, but nothing that is shown';
  if (document.visibilityState === 'hidden')
    return 'The tab is behind another one: a page may do some of its work only in front';
  return undefined;
}

// What the page wants, or does not accept.
function notesOf({ page, signs }: Scene): string[] {
  const notes: string[] = [];
  const refused = signs.refused().slice(0, 3);
  const said = refused.map(({ field, says }) => `${page.describe(field)}: ${named(says)}`);
  if (said.length > 0) notes.push(`Not valid: ${said.join(', ')}`);
  const files = signs.wantsFiles();
  if (files !== undefined)
    notes.push(`The page asks for files: upload takes them, with ${page.reference(files)}`);
  return notes;
}

function noted(...notes: (string | undefined)[]): { note?: string } {
  const all = notes.filter((one) => one !== undefined);
  return all.length > 0 ? { note: all.join('. ') } : {};
}
