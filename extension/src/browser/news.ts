// What is different between two looks at a page, in words. What a modal dialog lies over is not gone: it is told again
// only where it is different once the dialog is closed.
import { changes, type Moved } from './changes.ts';
import { attribute, closest, connected, has, holder } from './dom.ts';
import { visible } from './drawn.ts';
import { toldOf } from './items.ts';
import type { Line } from './lines.ts';
import { placesOf, sayGone } from './newsplaces.ts';
import { otherCells, redrawnIn, sayRedrawn } from './redrawn.ts';
import { withoutReferences } from './words.ts';

/** A line that somebody was told, without holding on to its element. */
export interface Seen {
  text: string;
  element: WeakRef<Element>;
  modal: boolean;
}

const mostMoved = 6; // lines that stand elsewhere
const fewBehind = 4; // lines behind a dialog that are told one by one

const held = new WeakMap<Element, WeakRef<Element>>();

function weakly(element: Element): WeakRef<Element> {
  let known = held.get(element);
  if (known === undefined) {
    known = new WeakRef(element);
    held.set(element, known);
  }
  return known;
}

export const seenOf = (all: readonly Line[]): Seen[] =>
  all.map(({ text, element, modal = false }) => ({ text, element: weakly(element), modal }));

const popups = '[role=menu],[role=listbox],[role=dialog],[role=alertdialog],[role=tree],dialog';

/** What is different, and what lies behind a modal dialog now. */
export interface News {
  said: string[];
  covered: Seen[];
}

/**
 * New lines begin with +, those that say something else with ~, and those that are gone with -. Of what the viewer
 * knows only that is left out which is as they were told it last: seen.
 */
export function newsOf(
  hidden: readonly Seen[],
  before: readonly Seen[],
  now: readonly Line[],
  seen: readonly { text: string }[] = before,
): News {
  const { added, gone, moved } = changes([...hidden, ...before], now);
  const goneOf = new Map<Element, number>();
  gone.forEach(({ element }, at) => {
    const one = element.deref();
    if (one !== undefined) goneOf.set(one, at);
  });
  toldOf(added.map(({ element }) => element));
  const replaced = new Set<number>();
  const same = new Map<Line, Seen>(); // lines of the same element as before
  for (const one of added) {
    const at = goneOf.get(one.element);
    const was = at === undefined || replaced.has(at) ? undefined : gone[at];
    if (at === undefined || was === undefined) continue;
    replaced.add(at);
    same.set(one, was);
  }
  const anew = drawnAnew(hidden, before, now, seen, { same, gone, added, replaced });
  const { said: anewSaid, together } = sayRedrawn(anew.known);
  const told = added.filter((one) => !together.has(one));
  for (const at of anew.pairs.values()) replaced.add(at);
  const places = placesOf(told, now);
  const texts = new Set(seen.map(({ text }) => text));
  const said = told.map((one) => {
    const was = same.get(one) ?? anew.known.get(one);
    if (was === undefined) return `+ ${one.text}${places.get(one) ?? ''}`;
    return `~ ${texts.has(was.text) ? otherCells(was.text, one.text) : one.text}`;
  });
  said.push(...anewSaid);
  const lost = gone.filter((_, at) => !replaced.has(at));
  const dialog = now.some(({ modal }) => modal === true);
  // A menu, too, can let nobody use what is around it; a part of a page that is only put aside is told.
  const pops = (hidden.length > 0 ? now : added).some(({ element }) => closest(element, popups) !== null);
  const shut = new Set(pops ? lost.filter(isShut) : []);
  const open = dialog || shut.size > 0;
  const opened = dialog && !before.some(({ modal }) => modal);
  const covered = open
    ? lost.filter((one) => hidden.includes(one) || shut.has(one) || (opened && isCovered(one)))
    : [];
  const news = covered.length - hidden.length;
  if (news > fewBehind)
    said.push(`- ${news} lines behind ${dialog ? 'the dialog' : 'what is open'}, as they were`);
  const closed = lost.filter(({ modal }) => modal).map(({ element }) => element.deref());
  const really = lost.filter(
    (one) =>
      !hidden.includes(one) &&
      (news <= fewBehind || !covered.includes(one)) &&
      (one.modal || !isInside(one, closed)),
  );
  const ended = hidden.filter((one) => !open && lost.includes(one));
  said.push(...sayGone([...really, ...ended], [...hidden, ...before], now));
  if (hidden.length === 0) said.push(...ofOrder(moved));
  return { said, covered };
}

interface Different {
  same: ReadonlyMap<Line, Seen>;
  gone: readonly Seen[];
  added: readonly Line[];
  replaced: ReadonlySet<number>;
}

// Lines that were drawn anew, with the places of what they were among those that are gone, and with what the viewer was
// told of them, where that is known.
function drawnAnew(
  hidden: readonly Seen[],
  before: readonly Seen[],
  now: readonly Line[],
  seen: readonly { text: string }[],
  { same, gone, added, replaced }: Different,
): { pairs: Map<Line, number>; known: Map<Line, { text: string }> } {
  const known = new Map<Line, { text: string }>();
  const pairs = new Map<Line, number>();
  const texts = new Set(seen.map(({ text }) => text));
  for (const [one, was] of same)
    if (withoutReferences(one.text) === withoutReferences(was.text) && texts.has(was.text))
      known.set(one, was);
  // What lies behind a dialog is told when that is closed.
  if (hidden.length > 0 || now.some(({ modal }) => modal === true)) return { pairs, known };
  const fresh = new Set(added.filter((one) => !same.has(one)));
  const lost = new Map(gone.flatMap((one, at) => (replaced.has(at) ? [] : [[one, at] as const])));
  const there = new Set(now.map(({ text }) => text));
  const told = redrawnIn(seen, now, new Set(seen.filter(({ text }) => !there.has(text))), fresh);
  for (const [one, was] of redrawnIn(before, now, new Set(lost.keys()), fresh)) {
    const at = lost.get(was);
    const last = told.get(one);
    if (at === undefined || last === undefined) continue;
    pairs.set(one, at);
    known.set(one, last);
  }
  return { pairs, known };
}

function ofOrder(moved: readonly Moved<Line>[]): string[] {
  const said = moved.slice(0, mostMoved).map(({ line, behind }) => `~ ${line.text} (${placeBehind(behind)})`);
  if (moved.length > mostMoved) said.push(`~ ${moved.length - mostMoved} more lines in another order`);
  return said;
}

function placeBehind(line: Line | undefined): string {
  if (line === undefined) return 'now first';
  const name = line.ref ?? line.text;
  return name.length > 80 ? 'moved' : `now after ${name}`;
}

// It is there still, and nobody can use it while a dialog is open.
function isCovered({ element }: Seen): boolean {
  const at = element.deref();
  return at !== undefined && connected(at) && visible(at);
}

// The page itself says that nobody can use it at present, and shows it all the same.
function isShut(one: Seen): boolean {
  if (!isCovered(one)) return false;
  for (let at = one.element.deref(); at !== undefined; at = holder(at))
    if (has(at, 'inert') || attribute(at, 'aria-hidden') === 'true') return true;
  return false;
}

const isInside = ({ element }: Seen, dialogs: readonly (Element | undefined)[]): boolean => {
  const at = element.deref();
  return at !== undefined && dialogs.some((dialog) => dialog?.contains(at));
};
