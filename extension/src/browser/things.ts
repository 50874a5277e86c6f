// What a person can act on, and the words for it: role, name, reference, state and value.
import {
  attribute,
  closest,
  content,
  focused,
  has,
  hasSome,
  holder,
  matches,
  tabIndex,
  tag,
  textOf,
  within,
} from './dom.ts';
import { isReplaced, isScroller, pointer, styleOf, takesKeysOnly, visible } from './drawn.ts';
import { labelsOf } from './labels.ts';
import { atOnce, known } from './moment.ts';
import { contentName, hintOf, nameOf, placeholderIn, writtenText } from './names.ts';
import { type Called, reference, referenceOf, remember } from './references.ts';
import { operable, roleOf, textFields, wording } from './roles.ts';
import { sensitivity } from './secrets.ts';
import { cut, exactly, letters, named, quote } from './words.ts';

/** What is known of an element before it is described. */
export interface Thing {
  element: Element;
  role: string;
  acts: boolean; // a person can act on it
}

const editable = '[contenteditable=""], [contenteditable="true" i], [contenteditable="plaintext-only" i]';
const handlers = ['onclick', 'onmousedown', 'onmouseup', 'onpointerdown', 'ondblclick', 'ontouchstart'];

const isEditable = (element: Element): boolean =>
  has(element, 'contenteditable') && matches(element, editable);

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
  const points = cursor !== '' && cursor !== around;
  if (!points && !hasSome(element)) return { element, role, acts: false };
  if (isEditable(element)) return { element, role: role === '' ? 'textbox' : role, acts: true };
  const name = tag(element);
  if (name === 'html' || name === 'body') return { element, role, acts: false };
  const own =
    points ||
    (takesFocus(element, role) && !isScroller(element)) ||
    handlers.some((handler) => has(element, handler)) ||
    (name === 'a' && isScripted(element)) ||
    isSorter(element) ||
    attribute(element, 'draggable') === 'true';
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
export function sayThing(thing: Thing, name = thingName(thing)): string {
  const { element, acts } = thing;
  let said = roleWord(thing);
  if (name !== '') said += ` ${named(name)}`;
  if (acts) {
    const ref = reference(element);
    remember(ref, said, calledOf(thing));
    said += ` [${ref}]`;
  }
  return said + sayState(thing);
}

/** The name of a thing; of one that can be acted on at least a hint. */
export function thingName(thing: Thing): string {
  const name = ownName(thing);
  return name !== '' || !thing.acts ? name : hintOf(thing.element);
}

function ownName({ element, role, acts }: Thing): string {
  const name = nameOf(element);
  return name !== '' || !acts || !wording.has(role) ? name : contentName(element);
}

/** What a thing that can be acted on is called. */
export function calledOf(thing: Thing): Called {
  const name = ownName(thing);
  const role = roleWord(thing);
  return name === '' ? { role, name: thingName(thing), unnamed: true } : { role, name };
}

const flag = (element: Element, name: string): boolean => attribute(element, name) === 'true';

/** State and value, behind the name. */
export function sayState({ element, role }: Thing): string {
  const states: string[] = [];
  const control = element instanceof HTMLLabelElement ? (element.control ?? element) : element;
  if (control instanceof HTMLInputElement && (control.type === 'checkbox' || control.type === 'radio')) {
    if (control.indeterminate) states.push('mixed');
    else if (control.checked) states.push('checked');
  } else {
    const checked = attribute(element, 'aria-checked');
    if (checked === 'true') states.push('checked');
    if (checked === 'mixed') states.push('mixed');
  }
  const pressed = attribute(element, 'aria-pressed');
  if (pressed === 'true') states.push('pressed');
  if (flag(element, 'aria-selected') || (element instanceof HTMLOptionElement && element.selected))
    states.push('selected');
  const expanded = attribute(element, 'aria-expanded');
  if (expanded === 'true') states.push('expanded');
  if (expanded === 'false') states.push('collapsed');
  if (expanded === null && tag(element) === 'summary') {
    const around = holder(element);
    if (around instanceof HTMLDetailsElement) states.push(around.open ? 'expanded' : 'collapsed');
  }
  const current = attribute(element, 'aria-current');
  if (current !== null && current !== 'false' && current !== '') states.push('current');
  const sorted = attribute(element, 'aria-sort');
  if (sorted === 'ascending' || sorted === 'descending') states.push(sorted);
  if (isDisabled(control)) states.push('disabled');
  if (has(element, 'readonly') || flag(element, 'aria-readonly')) states.push('readonly');
  if (has(element, 'required') || flag(element, 'aria-required')) states.push('required');
  if (flag(element, 'aria-invalid') || isInvalid(element)) states.push('invalid');
  if (flag(element, 'aria-busy')) states.push('busy');
  if (isFocused(element)) states.push('focused');
  const said = states.length === 0 ? '' : ` ${states.join(' ')}`;
  return said + sayValue(control, role);
}

/** Whether it is disabled, or in something that is. */
export const isDisabled = (element: Element): boolean =>
  (mayBeDisabled(tag(element)) && matches(element, ':disabled')) || inDisabled(element);

const controls = new Set('button fieldset input optgroup option select textarea'.split(' '));
const mayBeDisabled = (name: string): boolean => controls.has(name) || name.includes('-');

function inDisabled(element: Element): boolean {
  const about = known(element);
  if (about.disabled === undefined) {
    const around = attribute(element, 'aria-disabled') === 'true' ? null : holder(element);
    about.disabled = around === null || (around !== undefined && inDisabled(around));
  }
  return about.disabled;
}

// Only what a person has been told: a required field is invalid from the beginning.
const isInvalid = (element: Element): boolean =>
  (element instanceof HTMLInputElement ||
    element instanceof HTMLTextAreaElement ||
    element instanceof HTMLSelectElement) &&
  matches(element, ':user-invalid');

const isFocused = (element: Element): boolean => focused().includes(element) && element !== document.body;

const mostOptions = 12;

/** The value of a field, as it is; of a sensitive one only whether there is one. */
function sayValue(element: Element, role: string): string {
  if (sensitivity(element) !== undefined) return isFilled(element) ? ' = •••' : '';
  if (element instanceof HTMLSelectElement) return sayOptions(element);
  if (element instanceof HTMLInputElement) {
    switch (element.type) {
      case 'checkbox':
      case 'radio':
      case 'button':
      case 'submit':
      case 'reset':
      case 'image':
      case 'hidden':
        return '';
      case 'file': {
        const files = Array.from(element.files ?? [], (file) => named(file.name));
        return `${element.multiple ? ' multiple' : ''}${files.length > 0 ? ` = ${files.join(', ')}` : ''}`;
      }
      case 'range':
        return ` = ${quote(element.value)} of ${element.min || '0'} to ${element.max || '100'}`;
      default:
        return element.value === ''
          ? sayPlaceholder(element, element.placeholder)
          : ` = ${exactly(element.value)}`;
    }
  }
  if (element instanceof HTMLTextAreaElement) {
    if (takesKeysOnly(element)) return ''; // an editor keeps in it what it likes
    return element.value === ''
      ? sayPlaceholder(element, element.placeholder)
      : ` = ${exactly(element.value)}`;
  }
  if (element instanceof HTMLProgressElement)
    return element.position < 0 ? '' : ` = ${element.value} of ${element.max}`;
  if (element instanceof HTMLMeterElement) return ` = ${element.value} of ${element.max}`;
  if (
    isEditable(element) ||
    role === 'textbox' ||
    (textFields.has(role) && matches(element, ':read-write'))
  ) {
    const text = writtenText(element).replace(/\n$/, '');
    return text.trim() === '' ? sayPlaceholder(element, placeholderIn(element)) : ` = ${exactly(text)}`;
  }
  const now = attribute(element, 'aria-valuetext') ?? attribute(element, 'aria-valuenow');
  if (now !== null && now !== '') return ` = ${exactly(now)}`;
  if (role === 'combobox' && nameOf(element) !== contentName(element) && contentName(element) !== '')
    return ` = ${exactly(contentName(element))}`;
  return '';
}

const isFilled = (element: Element): boolean =>
  (element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement) && element.value !== '';

function sayPlaceholder(element: Element, placeholder = ''): string {
  const said = placeholder.trim();
  return said === '' || said === nameOf(element) ? '' : ` placeholder ${named(said)}`;
}

function sayOptions(select: HTMLSelectElement): string {
  const options = Array.from(select.options);
  const chosen = options.filter((option) => option.selected);
  const said = chosen.length === 0 ? '' : ` = ${chosen.map((option) => exactly(option.text)).join(', ')}`;
  const others = options.filter((option) => !option.selected && !option.disabled);
  if (others.length === 0) return said;
  const listed = others.slice(0, mostOptions).map((option) => quote(cut(option.text, 60)));
  const more = others.length > mostOptions ? ` and ${others.length - mostOptions} more` : '';
  return `${said} or ${listed.join(', ')}${more}`;
}

const items = new Set(['columnheader', 'listitem', 'menuitem', 'option', 'tab', 'treeitem']);
const places = new Set(['clickable', 'gridcell']); // which may do something of their own around a link or button
const checkable = new Set(['checkbox', 'radio', 'switch']);

/** Whether a thing is only the place of another one, which has its name: a click on that one reaches it, too. */
export const isPlaceOf = (thing: Thing, inside: Element): boolean =>
  (items.has(thing.role) || (places.has(roleWord(thing)) && checkable.has(roleOf(inside)))) &&
  tabIndex(thing.element) < 0 &&
  sayState(thing) === '' &&
  thingName(thing) === nameOf(inside);

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
    if (thing.role === '' && !thing.acts && ref !== undefined) return `text [${ref}]${sayWords(element)}`;
    const acts = thing.acts || ref !== undefined;
    const { role } = thing;
    return sayThing({ ...thing, acts, role: role === '' && !acts ? tag(element) : role });
  });

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
