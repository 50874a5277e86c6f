// What is different between two looks at a page, in words. What a modal dialog lies over is not gone: it is told again
// only where it is different once the dialog is closed.
import { changes, type Moved } from './changes.ts';
import { Columns, changedRow } from './columns.ts';
import { attribute, closest, connected, has, holder } from './dom.ts';
import { visible } from './drawn.ts';
import { toldOf } from './items.ts';
import type { Line } from './lines.ts';
import { placesOf, sayGone } from './newsplaces.ts';
import { withoutMore } from './words.ts';

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

/** New lines begin with +, those that say something else with ~, and those that are gone with -. */
export function newsOf(hidden: readonly Seen[], before: readonly Seen[], now: readonly Line[]): News {
  const { added, gone, moved } = changes([...hidden, ...before], now);
  const goneOf = new Map<Element, number>();
  gone.forEach(({ element }, at) => {
    const one = element.deref();
    if (one !== undefined) goneOf.set(one, at);
  });
  toldOf(added.map(({ element }) => element));
  const replaced = new Set<number>();
  const places = placesOf(added, now);
  const columns = new Columns(added);
  const said = added.map((one, place) => {
    const at = goneOf.get(one.element);
    if (at === undefined || replaced.has(at)) {
      const row = columns.tell(place, one);
      const elsewhere = places.get(one); // and not below the line that is told before it
      return `+ ${elsewhere === undefined ? row.text : one.text + elsewhere}`;
    }
    replaced.add(at);
    return `~ ${changedRow(gone[at]?.text ?? '', one.text)}`;
  });
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
  said.push(...sayGone([...really, ...ended], [...hidden, ...before], now, added));
  if (hidden.length === 0) said.push(...ofOrder(moved));
  return { said, covered };
}

function ofOrder(moved: readonly Moved<Line>[]): string[] {
  const said = moved.slice(0, mostMoved).map(({ line, behind }) => `~ ${line.text} (${placeBehind(behind)})`);
  if (moved.length > mostMoved) said.push(`~ ${moved.length - mostMoved} more lines in another order`);
  return said;
}

function placeBehind(line: Line | undefined): string {
  if (line === undefined) return 'now first';
  const name = line.ref ?? withoutMore(line.text);
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
