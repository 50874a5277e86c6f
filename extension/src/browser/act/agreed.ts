// What is agreed on about the targets of an act: what the person was shown when they allowed it, or what the agent was
// told of them last. Right before anything is done, each is compared with what it is by then.

import { isGone, resolve } from '../references.ts';
import { isAnother, sayTarget, type Target, targetOf } from '../targets.ts';
import { toldTarget } from '../toldtargets.ts';
import { cut, named } from '../words.ts';
import { isObject } from './dom.ts';
import { NotDone } from './failure.ts';
import { type Held, heldBy } from './held.ts';

/** One target as the person was shown it; only words where nothing in the page was it. */
export interface Slot extends Partial<Target> {
  words?: string; // of the agent, for what was not there yet
}

/** What was allowed: for each step its targets, in the document where they were. */
export interface Agreement {
  document: number;
  steps: (Slot | null)[][];
}

declare global {
  /** Kept beside the code, which is put into the document again when the extension has a newer one. */
  var tabrelayDocument: number | undefined;
}

/** This document, told apart from every other of the tab, also one that a javascript: address put in its place. */
export const documentNow = (): number => {
  globalThis.tabrelayDocument ??= crypto.getRandomValues(new Uint32Array(1))[0] ?? 0;
  return globalThis.tabrelayDocument;
};

let viewer = '';
let allowed: Map<Element, Slot | null> | undefined; // undefined: nobody was asked

const changed = (message: string, data: Record<string, unknown>): NotDone =>
  new NotDone('TARGET_CHANGED', message, {
    hint: 'Take a new snapshot, and call again only if that is what is meant now.',
    data,
  });

/**
 * A step begins, whose targets are these: null where nothing has the focus, undefined for what is gone. agreed says
 * what the person was shown of them.
 */
export function agreedOn(
  by: string,
  agreed: unknown,
  step: number,
  targets: readonly (Element | null | undefined)[],
): void {
  viewer = by;
  allowed = undefined;
  const slots = slotsOf(agreed, step);
  if (slots === undefined) return;
  if (step === 0) stillHeld(agreed);
  allowed = new Map();
  for (const [i, element] of targets.entries()) {
    const slot = slots[i];
    if (element === undefined) continue;
    if (element !== null) allowed.set(element, slot ?? null);
    else if (slot != null && slot.words === undefined)
      throw changed(`${sayed(slot)} had the focus when the person was asked, and no longer has it`, {
        was: sayed(slot),
      });
  }
}

function slotsOf(agreed: unknown, step: number): readonly (Slot | null)[] | undefined {
  if (!isObject(agreed)) return undefined;
  if (Reflect.get(agreed, 'document') !== documentNow())
    throw changed('The page was loaded anew since the person was asked', {});
  const steps: unknown = Reflect.get(agreed, 'steps');
  const slots: unknown = Array.isArray(steps) ? steps[step] : undefined;
  return Array.isArray(slots) ? slots.map(slotOf) : [];
}

// Before the first step, the forms that are sent hold what the person was shown, and nothing more. What a page puts
// there because of earlier steps is its answer to these.
function stillHeld(agreed: unknown): void {
  const steps: unknown = isObject(agreed) ? Reflect.get(agreed, 'steps') : undefined;
  for (const slot of Array.isArray(steps) ? steps.flat().filter(isObject) : []) {
    const at = elementOf(Reflect.get(slot, 'sender'));
    if (at === undefined) continue; // nothing is sent, or what sends it is not in the page any more
    const filled = new Set(listIn(slot, 'filled').flatMap((ref) => elementOf(ref) ?? []));
    const shown = new Map(
      listIn(slot, 'holds')
        .filter(isObject)
        .map((one) => [Reflect.get(one, 'ref'), one]),
    );
    const more: unknown = Reflect.get(slot, 'more') ?? 0;
    const now = heldBy(at, filled, documentNow());
    const other = now.holds.find((one) => isOther(one, shown.get(one.ref)));
    const isSame = now.digest === Reflect.get(slot, 'digest');
    if (isSame && other === undefined && now.holds.length === shown.size && now.more === more) continue;
    const what = other === undefined ? 'The form' : named(other.name);
    throw changed(`${what} holds something else now than when the person was asked whether to send it`, {
      ...(other?.value !== undefined && { is: other.value }),
    });
  }
}

const isOther = (now: Held, shown: object | undefined): boolean =>
  shown === undefined || now.value !== Reflect.get(shown, 'value');

const listIn = (slot: object, name: string): unknown[] => {
  const list: unknown = Reflect.get(slot, name);
  return Array.isArray(list) ? list : [];
};

function elementOf(ref: unknown): Element | undefined {
  const found = typeof ref === 'string' ? resolve(ref) : undefined;
  return found === undefined || isGone(found) ? undefined : found;
}

const slotOf = (given: unknown): Slot | null => {
  if (!isObject(given)) return null;
  const text = (name: string): string | undefined => {
    const value: unknown = Reflect.get(given, name);
    return typeof value === 'string' ? value : undefined;
  };
  const slot: Slot = { ...(Reflect.get(given, 'unnamed') === true && { unnamed: true }) };
  for (const name of ['words', 'role', 'name', 'shows', 'form', 'link'] as const) {
    const value = text(name);
    if (value !== undefined) slot[name] = value;
  }
  return slot;
};

const sayed = ({ words, role = '', name = '', shows }: Slot): string =>
  words ?? sayTarget({ role, name, ...(shows !== undefined && { shows }) });

/** Throws where an element is not what the person allowed, or what the agent was told. Nothing is done then. */
export function stillAgreed(element: Element): void {
  if (allowed === undefined) stillTold(viewer, element);
  else stillAllowed(element);
}

/**
 * The same once the pointer is over it. For a tooltip some pages take the words off a thing: where the agent was only
 * told of it, a name that goes away and is followed by nothing is no other thing.
 */
export function stillAgreedUnderPointer(element: Element, eventsBefore: number): void {
  const { name, shows, unnamed } = targetOf(element);
  if (allowed === undefined && (name === '' || unnamed === true) && shows === undefined) return;
  try {
    stillAgreed(element);
  } catch (why) {
    if (why instanceof NotDone) why.eventsBefore = eventsBefore;
    throw why;
  }
}

/** Whether what is done to one element may go on in another, which the person who was asked was not shown. */
export function mayGoOn(from: Element | null, to: Element | null): boolean {
  if (allowed === undefined) return true;
  const slot = from === null ? undefined : allowed.get(from);
  if (to === null || slot == null || slot.words !== undefined) return false;
  return !isAnother({ role: '', name: '', ...slot }, targetOf(to), true);
}

/** The same for who was told of it. */
export function stillTold(by: string, element: Element): void {
  const told = toldTarget(by, element);
  const now = told && targetOf(element);
  if (told === undefined || now === undefined || !isAnother(told, now, false)) return;
  throw changed(`What was told as ${say(told, now)}`, dataOf(told, now));
}

/** The same for what the person was asked about, and nothing else. */
function stillAllowed(element: Element): void {
  const slot = allowed?.get(element);
  if (allowed === undefined || (slot === undefined && !allowed.has(element))) return;
  const now = targetOf(element);
  if (slot == null || slot.words !== undefined) {
    if (slot?.words !== undefined && isAs(slot.words, now)) return;
    throw changed(`${sayTarget(now)} is not what the person was asked about`, { is: sayTarget(now) });
  }
  const was: Target = { role: '', name: '', ...slot };
  if (isAnother(was, now, true))
    throw changed(`What was ${say(was, now, 'when the person was asked')}`, dataOf(was, now));
}

// Words of an agent name a thing by its role and name: what is seen of it must be nothing else.
function isAs(words: string, now: Target): boolean {
  return now.shows === undefined && words.startsWith(sayTarget({ role: now.role, name: now.name }));
}

function say(was: Target, now: Target, when = ''): string {
  const [before, after] = [sayTarget(was), sayTarget(now)];
  const since = when === '' ? '' : ` ${when}`;
  if (before !== after) return `${before}${since} is ${after} now`;
  if (was.form !== now.form)
    return `${before}${since} sent its form to ${was.form ?? 'nowhere'}, and ${goes(now.form)}`;
  return `${before}${since} led to ${was.link ?? 'nowhere'}, and leads to ${now.link ?? 'nowhere'} now`;
}

const goes = (form: string | undefined): string =>
  form === undefined ? 'belongs to no form now' : `sends it to ${form} now`;

function dataOf(was: Target, now: Target): Record<string, unknown> {
  const words = (one: Target) => cut([sayTarget(one), one.form, one.link].filter(Boolean).join('; '), 400);
  return { was: words(was), is: words(now) };
}
