// What a person can act on, and the words for it: role, name, reference, state and value.
import { isBlankBox } from './blank.ts';
import {
  attribute,
  closest,
  content,
  has,
  hasSome,
  holder,
  line,
  tabIndex,
  tag,
  textOf,
  within,
} from './dom.ts';
import { isInline, isReplaced, isScroller, pointer, styleOf, visible } from './drawn.ts';
import { hintOf } from './hints.ts';
import { holdsThings } from './kinds.ts';
import { labelsOf } from './labels.ts';
import { atOnce, isPage, known } from './moment.ts';
import { contentName, nameOf } from './names.ts';
import { type Called, reference, referenceOf, remember } from './references.ts';
import { operable, roleOf, wording } from './roles.ts';
import { standsOut } from './standing-out.ts';
import { isEditable, sayState } from './states.ts';
import { cut, letters, named, quote } from './words.ts';

/** What is known of an element before it is described. */
export interface Thing {
  element: Element;
  role: string;
  acts: boolean; // a person can act on it
}

const handlers = ['onclick', 'onmousedown', 'onmouseup', 'onpointerdown', 'ondblclick', 'ontouchstart'];

/** What an element is; around is the cursor over what it stands in. */
export function thingOf(element: Element, cursor: string, around: string): Thing {
  const role = roleOf(element);
  if (isOnlyAround(role, element)) return { element, role: '', acts: false };
  if (operable.has(role)) {
    // A cell or an option that only shows something is no control.
    const shows = (role === 'gridcell' && tag(element) === 'td') || role === 'row';
    return { element, role, acts: !shows || cursor !== around || has(element, 'tabindex') };
  }
  if (role === 'canvas' || role === 'embedded' || (role === 'img' && within(element, 'canvas').length > 0))
    return { element, role, acts: true };
  if (standsForAnother(element)) return { element, role, acts: true };
  const points = cursor !== '' && (cursor !== around || standsOut(element));
  if (!points && !hasSome(element) && tag(element) !== 'td') return { element, role, acts: false };
  if (isEditable(element)) return { element, role: role === '' ? 'textbox' : role, acts: true };
  const name = tag(element);
  if (name === 'html' || name === 'body') return { element, role, acts: false };
  const own =
    points ||
    (takesFocus(element, role) && !isScroller(element)) ||
    handlers.some((handler) => has(element, handler)) ||
    (name === 'a' && isScripted(element)) ||
    isSorter(element) ||
    attribute(element, 'draggable') === 'true' ||
    ((role === '' || role === 'cell') && cursor === '' && isBlankBox(element));
  return { element, role, acts: own && !forAnother(element) };
}

// The box around a combobox that says the same of itself: the field in it is what takes words.
const isOnlyAround = (role: string, element: Element): boolean =>
  role === 'combobox' && tabIndex(element) < 0 && within(element, '[role=combobox]').length > 0;

// Of the rows of a grid all but one take the focus from the keys alone.
const takesFocus = (element: Element, role: string): boolean =>
  has(element, 'tabindex') && (role === 'row' || tabIndex(element) >= 0 || isOneOfSome(element));

// Neither of components that the keys go through: https://www.w3.org/WAI/ARIA/apg/practices/keyboard-interface/
function isOneOfSome(element: Element): boolean {
  const name = tag(element);
  if (!name.includes('-')) return false;
  const others = Array.from(element.parentElement?.children ?? []).slice(0, mostOfSome);
  return others.some((one) => tag(one) === name && has(one, 'tabindex') && tabIndex(one) >= 0);
}

const mostOfSome = 40;

// The head of a column that can be sorted by, without a button for that.
const isSorter = (element: Element): boolean =>
  has(element, 'aria-sort') && within(element, 'a, button, [role=button], [tabindex]').length === 0;

// A link without an address is one that the page's scripts follow, or the place that others lead to.
const isScripted = (link: Element): boolean =>
  Array.from(link.attributes).some(({ name }) => name !== 'id' && name !== 'name') &&
  textOf(link).trim() !== '';

// A label by which a person checks a box, or gives files, that is not displayed itself.
function standsForAnother(element: Element): boolean {
  if (tag(element) !== 'label' || !(element instanceof HTMLLabelElement)) return false;
  const { control } = element;
  return (
    control instanceof HTMLInputElement && /^(?:checkbox|radio|file)$/.test(control.type) && !visible(control)
  );
}

// A label passes a click on to a field that is displayed, and that field has a reference of its own.
function forAnother(element: Element): boolean {
  return element instanceof HTMLLabelElement && element.control !== null && visible(element.control);
}

/** The word for what an element is. */
export function roleWord({ element, role }: Thing): string {
  if (role === 'heading') return `h${headingLevel(element)}`;
  if (role !== '' && role !== 'paragraph') return role;
  const control = element instanceof HTMLLabelElement ? element.control : null;
  if (control !== null) return roleOf(control);
  const { cursor } = styleOf(element);
  if (cursor.endsWith('-resize')) return 'handle';
  if (attribute(element, 'draggable') === 'true' || cursor === 'grab' || cursor === 'move')
    return 'draggable';
  return 'clickable';
}

function headingLevel(element: Element): number {
  const said = Number(attribute(element, 'aria-level'));
  if (Number.isInteger(said) && said > 0) return said;
  const level = Number(/^h([1-6])$/.exec(tag(element))?.[1]);
  return Number.isNaN(level) ? 2 : level;
}

/** The words for a thing. With a reference when it can be acted on. */
export function sayThing(thing: Thing, mostOfValue?: number): string {
  const { element, acts } = thing;
  const name = thingName(thing);
  let said = roleWord(thing);
  if (name !== '') said += ` ${named(name)}`;
  if (acts) {
    const ref = reference(element);
    remember(ref, said, calledOf(thing));
    said += ` [${ref}]`;
  }
  return said + sayState(thing, mostOfValue);
}

/** The name of a thing; of one that can be acted on at least a hint. */
export function thingName(thing: Thing): string {
  const name = ownName(thing);
  if (name !== '' || !thing.acts) return name;
  const parts = partsOf(thing.element);
  return hintOf(thing.element, parts.length > 1 ? parts : []);
}

function ownName({ element, role, acts }: Thing): string {
  const name = nameOf(element);
  return name !== '' || !acts || !wording.has(role) ? name : wordsOwn(element);
}

// What stands in a thing besides the words of others in it; those of the only other one are said of both.
function wordsOwn(element: Element): string {
  const about = known(element);
  if (about.ownWords === undefined) {
    const parts = partsOf(element);
    const words = parts.length === 0 ? '' : line(wordsBeside(element, parts));
    about.ownWords = parts.length > 1 || words !== '' ? words : contentName(element);
  }
  return about.ownWords;
}

function wordsBeside(element: Element, parts: readonly Element[]): string {
  const words = content(element).map((one) => {
    if (typeof one === 'string') return one;
    return parts.includes(one) || attribute(one, 'aria-hidden') === 'true' || !visible(one)
      ? ' '
      : isInline(one)
        ? wordsBeside(one, parts)
        : ` ${wordsBeside(one, parts)} `;
  });
  return words.join('');
}

/** The outermost things in a thing. */
function partsOf(element: Element): readonly Element[] {
  const about = known(element);
  about.parts ??= Array.from(thingsIn(element, pointer(element)));
  return about.parts;
}

function* thingsIn(element: Element, around: string): Generator<Element> {
  for (const one of content(element)) {
    if (typeof one === 'string' || !visible(one)) continue;
    const cursor = pointer(one);
    if (thingOf(one, cursor, around).acts) yield one;
    else yield* thingsIn(one, cursor);
  }
}

/** Whether a part of a thing is one of its own, and not how that is drawn. */
export const isThingIn = (outer: Element, part: Element): boolean =>
  isThing(part) && holdsThings(roleOf(outer), outer) && !(choices.has(roleOf(outer)) && roleOf(part) === '');

/** Whether an element is a thing of its own, as it stands in the page. */
export function isThing(element: Element): boolean {
  const around = holder(element);
  return thingOf(element, pointer(element), around === undefined ? '' : pointer(around)).acts;
}

/** What a thing that can be acted on is called. */
export function calledOf(thing: Thing): Called {
  const name = ownName(thing);
  const role = roleWord(thing);
  return name === '' ? { role, name: thingName(thing), unnamed: true } : { role, name };
}

const items = new Set(['columnheader', 'listitem', 'menuitem', 'option', 'tab', 'treeitem']);
const places = new Set(['clickable', 'gridcell']); // which may do something of their own around a link or button
const checkable = new Set(['checkbox', 'radio', 'switch']);

/** Whether a thing is only the place of another one, which has its name: a click on that one reaches it, too. */
export const isPlaceOf = (thing: Thing, inside: Element): boolean =>
  (items.has(thing.role) || (places.has(roleWord(thing)) && checkable.has(roleOf(inside)))) &&
  tabIndex(thing.element) < 0 &&
  sayState(thing) === '' &&
  (nameOf(thing.element) || contentName(thing.element) || thingName(thing)) === nameOf(inside);

const choices = new Set([...checkable, 'columnheader']);

/** Whether a line in a box to check, or in the head of a column, is only how that is drawn, or the field it keeps. */
export function isPartOf(thing: Thing, { element, text }: { element: Element; text: string }): boolean {
  if (!choices.has(thing.role) || element === thing.element) return false;
  const role = roleOf(element);
  const own = handlers.some((handler) => has(element, handler)) || /[\p{L}\p{N}]/u.test(textOf(element));
  if (role === '' && closest(element, 'label') !== null && !own) return true;
  const word = role === '' ? 'clickable' : thing.role;
  return text.startsWith(`${word} ${named(thingName(thing))} [`);
}

/** One element in one line: role, name, reference, state and value; also of one that cannot be acted on. */
export const describe = (element: Element): string =>
  atOnce(() => {
    const around = holder(element);
    const thing = thingOf(element, pointer(element), around === undefined ? '' : pointer(around));
    const ref = referenceOf(element);
    if (thing.role === '' && !thing.acts && ref !== undefined)
      return isScroller(element) && !isPage(element) ? `area [${ref}]` : `text [${ref}]${sayWords(element)}`;
    const acts = thing.acts || ref !== undefined;
    const { role } = thing;
    return sayThing({ ...thing, acts, role: role === '' && !acts ? tagSaid(element) : role });
  });

// A page can give an element a name that reads like a line of ours.
const tagSaid = (element: Element): string =>
  /^[a-z][a-z0-9-]{0,40}$/.test(tag(element)) ? tag(element) : 'element';

function sayWords(element: Element): string {
  const words = nameOf(element) || contentName(element);
  return words === '' ? '' : `: ${quote(cut(words, 80))}`;
}

/** Whether a label's words are the name of a field that is displayed, so that they need not be said twice. */
export const namesAField = (label: Element): boolean =>
  label instanceof HTMLLabelElement &&
  label.control !== null &&
  visible(label.control) &&
  labelsOf(label.control).length === 1 &&
  letters(nameOf(boxFor(label.control))).includes(letters(ownWords(label)));

// What people see in place of a list of the browser.
function boxFor(field: Element): Element {
  const next = tag(field) === 'select' && isReplaced(field) ? field.nextElementSibling : null;
  return next === null ? field : (within(next, '[role=combobox]')[0] ?? next);
}

// The words of a label, without those of fields in it.
function ownWords(element: Element): string {
  const words = content(element).map((one) => {
    if (typeof one === 'string') return one;
    return operable.has(roleOf(one)) || attribute(one, 'aria-hidden') === 'true' || !visible(one)
      ? ''
      : ownWords(one);
  });
  return words.join('');
}
