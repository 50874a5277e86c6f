// What an act changed: the page is watched from before it until it is quiet again, and nothing is claimed that was
// not seen.

import type { Mark } from '../changes.ts';
import { documentFor, eventsSent, focusedIn, isElement, isInput, shadowOf } from './dom.ts';
import { NotDone } from './failure.ts';
import { hoverMark } from './hovering.ts';
import type { Dialog, DialogAnswer, News, Page, Watch } from './page.ts';

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
}

const longestMs = 500;
const quietMs = 40;
const lookMs = 10;

/** What is watched while an act goes on. */
interface Scene {
  page: Page;
  watch: Watch;
  mark: Mark;
  signs: Signs;
  departure: Departure;
}

let typedAt = 0; // when something was typed for which a page may offer something

/** Something was typed for which a page may offer suggestions: they come when nothing more is typed for a while. */
export function suggestionsMayCome(): void {
  typedAt = performance.now();
}

let unsettled: Scene | undefined; // an act after which the page was to leave

/** Runs an act and tells what came of it; more is what the act itself has to say. */
export async function effectOf<More extends object>(
  page: Page,
  dialogs: DialogAnswer,
  act: () => Promise<More>,
): Promise<Effect & More> {
  if (unsettled !== undefined) leaveScene(unsettled);
  typedAt = 0;
  const watch = await page.watch(dialogs);
  const scene = { page, watch, mark: page.mark(), signs: watchSigns(), departure: watchDeparture(dialogs) };
  const sent = eventsSent();
  try {
    const more = await act().catch((why: unknown) => {
      throw truthful(why, eventsSent() > sent);
    });
    await quiet(scene);
    const leaving = scene.departure.to();
    if (leaving !== undefined) {
      // Said at once: the next document can take this one's place at any moment.
      unsettled = scene;
      return { outcome: 'executed', leaving, ...more };
    }
    return { ...found(scene, await watch.end()), ...more };
  } finally {
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
    return found(scene, await scene.watch.end());
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
function truthful(why: unknown, acted: boolean): unknown {
  if (!(why instanceof NotDone)) return why;
  if (acted) why.outcome = 'executed';
  else if (why.code === 'SENSITIVE_FIELD') return why; // its message is the field
  why.message += acted ? '; what was done before that stays done' : '; nothing was done';
  return why;
}

interface Signs {
  lastAt(): number; // when something was seen last; 0: nothing yet
  answeredAt(): number; // the same, without scrolling
  focus(): Element | null; // where the focus has gone, if it moved
  scrolled(): boolean;
  wantsFiles(): Element | undefined; // a field whose list of files the page tried to open
  url: string;
  title: string;
  end(): void;
}

function watchSigns(): Signs {
  let lastAt = 0;
  let scrolled = false;
  const { href: url } = location;
  const { title } = document;
  const focus = focusedIn(document);
  let answeredAt = 0;
  let wantsFiles: Element | undefined;
  const seen = () => {
    lastAt = performance.now();
    answeredAt = lastAt;
  };
  const onClick = ({ target }: Event) => {
    if (isElement(target) && isInput(target) && target.type === 'file') wantsFiles = target;
  };
  const onScroll = () => {
    scrolled = true;
    lastAt = performance.now();
  };
  const observer = new MutationObserver((records) => {
    if (records.some((record) => !ours(record))) seen();
  });
  const all = { subtree: true, childList: true, attributes: true, characterData: true };
  observer.observe(document, all);
  for (let at = focus; at !== null; at = at.parentElement) {
    const root = shadowOf(at);
    if (root !== null) observer.observe(root, all);
  }
  const events = ['input', 'change', 'toggle', 'close'];
  for (const type of events) addEventListener(type, seen, true);
  addEventListener('scroll', onScroll, true);
  addEventListener('click', onClick, true);
  return {
    lastAt: () => lastAt,
    answeredAt: () => answeredAt,
    wantsFiles: () => wantsFiles,
    focus: () => {
      const now = focusedIn(document);
      return now === focus ? null : now;
    },
    scrolled: () => scrolled,
    url,
    title,
    end() {
      observer.disconnect();
      for (const type of events) removeEventListener(type, seen, true);
      removeEventListener('scroll', onScroll, true);
      removeEventListener('click', onClick, true);
    },
  };
}

// What shows the person who acts, and what the pointer is over, is not the page's.
function ours({ type, addedNodes, removedNodes, attributeName }: MutationRecord): boolean {
  if (attributeName === hoverMark) return true;
  const mark = globalThis.tabrelayMark;
  if (type !== 'childList' || mark === undefined) return false;
  return [...addedNodes, ...removedNodes].every((node) => node === mark);
}

interface Departure {
  to(): string | undefined;
  asked(): Dialog | undefined;
  download(): string | undefined;
  stays(): void;
  end(): void;
}

interface Navigate extends Event {
  destination: { url: string; sameDocument: boolean };
  downloadRequest: string | null;
  hashChange: boolean;
}

const isNavigate = (event: Event): event is Navigate => 'destination' in event && 'hashChange' in event;

// A page that leaves is waited for. One that asks whether it may be left is asked here, before Chrome asks the person.
function watchDeparture(dialogs: DialogAnswer): Departure {
  let to: string | undefined;
  let asked: Dialog | undefined;
  let download: string | undefined;
  const stays = () => {
    to = undefined;
  };
  const onNavigate = (event: Event) => {
    if (!isNavigate(event) || event.destination.sameDocument) return;
    if (event.downloadRequest !== null) {
      download = event.destination.url;
      return;
    }
    if (event.defaultPrevented) return;
    if (
      !mayLeave(dialogs, (dialog) => {
        asked = dialog;
      }) &&
      event.cancelable
    ) {
      event.preventDefault();
      return;
    }
    const { url } = event.destination;
    queueMicrotask(() => {
      if (!event.defaultPrevented) to = url;
    });
  };
  // The page has said already what it had to say.
  const onUnload = (event: Event) => {
    if (to !== undefined && event.isTrusted) event.stopImmediatePropagation();
  };
  const navigation: unknown = Reflect.get(window, 'navigation');
  const target = navigation instanceof EventTarget ? navigation : undefined;
  target?.addEventListener('navigate', onNavigate);
  target?.addEventListener('navigatesuccess', stays);
  target?.addEventListener('navigateerror', stays);
  addEventListener('beforeunload', onUnload, true);
  return {
    to: () => to,
    stays,
    asked: () => asked,
    download: () => download,
    end() {
      target?.removeEventListener('navigate', onNavigate);
      target?.removeEventListener('navigatesuccess', stays);
      target?.removeEventListener('navigateerror', stays);
      removeEventListener('beforeunload', onUnload, true);
    },
  };
}

/** Asks the page whether it may be left, and answers as the call said. */
export function mayLeave(dialogs: DialogAnswer, tell: (dialog: Dialog) => void): boolean {
  const event = document.createEvent('BeforeUnloadEvent');
  event.initEvent('beforeunload', false, true);
  dispatchEvent(event);
  const returned: unknown = Reflect.get(event, 'returnValue');
  if (!event.defaultPrevented && (typeof returned !== 'string' || returned === '')) return true;
  const leave = dialogs === 'accept';
  const text = 'The page asks whether to leave: changes that were made may not be saved';
  tell({ kind: 'beforeunload', text, answered: leave ? 'left' : 'stayed' });
  return leave;
}

async function quiet({ page, signs, departure, watch }: Scene): Promise<void> {
  const from = performance.now();
  await page.pause(0);
  let busyAt = 0;
  for (;;) {
    if (departure.to() !== undefined) return;
    const now = performance.now();
    if (watch.busy()) busyAt = now;
    const seenAt = signs.answeredAt();
    const last = seenAt <= typedAt ? 0 : Math.max(seenAt, busyAt); // a page goes on with what it was answered
    if (now - from >= longestMs) return;
    // Where nothing was seen at all, what comes late would be missed.
    if (last > 0 && now - last >= quietMs) return;
    await page.pause(lookMs);
  }
}

function found({ page, mark, signs, departure }: Scene, outside: News): Effect {
  const effect: Effect = { outcome: 'executed' };
  const changes = page.changesSince(mark);
  if (changes.length > 0) effect.changes = changes.join('\n');
  if (location.href !== signs.url) effect.url = location.href;
  if (document.title !== signs.title) effect.title = document.title;
  const focus = signs.focus();
  if (focus !== null && focus !== documentFor(focus).body) effect.focused = page.describe(focus);
  if (signs.scrolled()) effect.scrolled = true;
  Object.assign(effect, outside);
  const asked = departure.asked();
  if (asked !== undefined) effect.dialogs = [...(effect.dialogs ?? []), asked];
  const download = departure.download();
  if (download !== undefined) effect.downloads = [...(effect.downloads ?? []), download];
  // That the page complains of itself is no effect.
  if (Object.keys(effect).filter((key) => key !== 'consoleErrors').length === 1) {
    effect.noEffect = true;
    if (signs.lastAt() > 0) effect.note = 'Something in the page changed, nothing of it is shown';
    else if (document.visibilityState === 'hidden')
      effect.note = 'The tab is behind another one: a page may do some of its work only in front';
  }
  const files = signs.wantsFiles();
  if (files !== undefined)
    effect.note = `The page asks for files: upload takes them, with ${page.reference(files)}`;
  return effect;
}
