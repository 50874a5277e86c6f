// What an act is done to, as a person knows it: what it is, what it is called, what is seen of it, and where its form
// is sent.
import { isSameName } from './alterations.ts';
import { attribute, closest, content, has, holder, legible, line, matches, tag, within } from './dom.ts';
import { isCutOff, pointer, visible } from './drawn.ts';
import { destinationOf } from './forms.ts';
import { added, drawnAround } from './generated.ts';
import { labelsOf } from './labels.ts';
import { atOnce } from './moment.ts';
import { contentName, nameOf } from './names.ts';
import type { Called } from './references.ts';
import { namesOf, textFields } from './roles.ts';
import { calledOf, thingOf } from './things.ts';
import { cut, letters, named } from './words.ts';

export interface Target extends Called {
  shows?: string; // what is seen of it, where its name does not say that
  form?: string; // where its form is sent: method, origin and path
  link?: string; // where it leads: origin and path
}

const mostShown = 160;
const mostRead = 100; // characters of a name that a question shows

/** What an element is now. */
export const targetOf = (element: Element): Target =>
  atOnce(() => {
    const around = holder(element);
    const thing = thingOf(element, pointer(element), around === undefined ? '' : pointer(around));
    const link = linkOf(element);
    const isText = thing.role === '' && !thing.acts;
    const words = isText ? nameOf(element) || contentName(element) : '';
    const called = words === '' ? calledOf({ ...thing, acts: true }) : { role: 'text', name: words };
    return {
      ...called,
      name: cut(called.name, mostShown),
      ...aside(element),
      ...(link !== undefined && { link }),
    };
  });

/** What is to be known of an element besides its role and name. */
export function aside(element: Element): Pick<Target, 'shows' | 'form'> {
  const [shows, form] = [seenBeside(element), formOf(element)];
  return { ...(shows !== undefined && { shows }), ...(form !== undefined && { form }) };
}

/** A target in words: its name, or what is seen of it first where that is something else. */
export function sayTarget({ role, name, shows }: Target, ref?: string): string {
  const mark = ref === undefined ? '' : ` [${ref}]`;
  if (shows === undefined) return `${role}${name === '' ? '' : ` ${named(name)}`}${mark}`;
  const label = name === '' ? 'it has no label' : `its label says ${named(name)}`;
  return `${role}${mark} that shows ${named(shows)} (${label})`;
}

function seenBeside(element: Element): string | undefined {
  const name = nameOf(element);
  const isLong = name.length > mostRead;
  if (!isLong && !mayShowMore(element)) return undefined;
  const shown = line(legible(seenWords(element)));
  const words = letters(shown);
  const isSign = /^\p{L}?$/u.test(words); // such as the x that closes
  const said = letters(name.slice(0, mostRead));
  const isSaid = said.includes(words) || (isLong && words.startsWith(said));
  return isSign || isSaid ? undefined : cut(shown, mostShown);
}

const renaming = '[aria-hidden], [aria-label], [aria-labelledby], [aria-labeledby]';

// Names are mostly what is seen: by rule they are something else only with these attributes.
function mayShowMore(element: Element): boolean {
  const name = tag(element);
  if (has(element, 'aria-label') || namesOf(element) !== null || name.includes('-')) return true;
  if (name === 'button' || isButton(element)) if (labelsOf(element).length > 0) return true;
  if (isField(name)) return false;
  if (drawnAround(element) !== undefined) return true;
  return within(element, renaming).length > 0;
}

const isField = (name: string): boolean => name === 'input' || name === 'textarea' || name === 'select';

const buttons = ['submit', 'button', 'reset'];

const isButton = (element: Element): element is HTMLInputElement =>
  element instanceof HTMLInputElement && buttons.includes(element.type);

function seenWords(element: Element): string {
  if (isButton(element)) return element.value;
  if (isField(tag(element)))
    return labelsOf(element)
      .filter(visible)
      .map((label) => wordsIn(label, { left: mostNodes }))
      .join(' ');
  return matches(element, ownWords) ? '' : wordsIn(element, { left: mostNodes });
}

// What is seen in these is what somebody has written or chosen there.
const ownWords =
  '[contenteditable]:not([contenteditable="false" i]), [role="textbox" i], [role="combobox" i], [role="listbox" i], ' +
  '[role="searchbox" i], [role="spinbutton" i], [role="slider" i]';

const mostNodes = 200;
const unseen = new Set('script style template noscript input textarea select iframe'.split(' '));

function wordsIn(element: Element, budget: { left: number }): string {
  const [before, after] = drawnAround(element) ?? added(element);
  let words = before;
  for (const node of content(element)) {
    if (--budget.left < 0) break;
    if (typeof node === 'string') words += node;
    else if (!unseen.has(tag(node)) && visible(node) && !isCutOff(node))
      words += ` ${wordsIn(node, budget)} `;
  }
  return words + after;
}

/** Where the form is sent that an element belongs to. What only closes a dialog is sent nowhere. */
function formOf(element: Element): string | undefined {
  const to = destinationOf(element);
  if (to === undefined) return undefined;
  return to.method === 'DIALOG' ? to.method : `${to.method} ${placeOf(to.address)}`;
}

function linkOf(element: Element): string | undefined {
  const href = attribute(closest(element, 'a[href], area[href]') ?? element, 'href');
  return href === null || tag(element) === 'use' ? undefined : placeOf(href);
}

// An address as far as it is compared: what follows the path changes with every look at some pages.
function placeOf(address: string): string {
  if (!URL.canParse(address, document.baseURI)) return cut(address, mostShown);
  const { protocol, origin, pathname } = new URL(address, document.baseURI);
  return cut(origin === 'null' ? `${protocol}${pathname}` : origin + pathname, mostPlace);
}

const mostPlace = 300;

const kindOfRole = (role: string): string => {
  if (textFields.has(role)) return 'textbox';
  return role === 'draggable' || role === 'handle' || role === 'text' ? 'clickable' : role;
};

/** Whether a person would call it another thing than before; strict also where a link of that name leads elsewhere. */
export function isAnother(before: Target, now: Target, strict: boolean): boolean {
  if (kindOfRole(before.role) !== kindOfRole(now.role)) return true;
  const isHint = before.unnamed === true && now.unnamed === true;
  if (!isHint && !isSameName(before.name, now.name)) return true;
  if (!isSameName(before.shows ?? '', now.shows ?? '')) return true;
  return before.form !== now.form || (strict && before.link !== now.link);
}
