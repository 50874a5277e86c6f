// The state of a thing and what it holds, as people see it.
import { attribute, focused, has, holder, matches, tag } from './dom.ts';
import { takesKeysOnly } from './drawn.ts';
import { known } from './moment.ts';
import { contentName, nameOf, placeholderIn, writtenText } from './names.ts';
import { textFields } from './roles.ts';
import { sensitivity } from './secrets.ts';
import { cut, exactly, named, quote } from './words.ts';

/** What has a state. */
interface Thing {
  element: Element;
  role: string;
}

const editable = '[contenteditable=""], [contenteditable="true" i], [contenteditable="plaintext-only" i]';

/** Whether one writes in it as in an editor. */
export const isEditable = (element: Element): boolean =>
  has(element, 'contenteditable') && matches(element, editable);

const flag = (element: Element, name: string): boolean => attribute(element, name) === 'true';

/** State and value, behind the name. */
export function sayState({ element, role }: Thing, most?: number): string {
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
  return said + sayValue(control, role, most);
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
function sayValue(element: Element, role: string, most?: number): string {
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
        return ` = ${quote(element.value)} of ${limit(element.min, 0)} to ${limit(element.max, 100)}`;
      default:
        return element.value === ''
          ? sayPlaceholder(element, element.placeholder)
          : ` = ${exactly(element.value, most)}`;
    }
  }
  if (element instanceof HTMLTextAreaElement) {
    if (takesKeysOnly(element)) return ''; // an editor keeps in it what it likes
    return element.value === ''
      ? sayPlaceholder(element, element.placeholder)
      : ` = ${exactly(element.value, most)}`;
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
    return text.trim() === '' ? sayPlaceholder(element, placeholderIn(element)) : ` = ${exactly(text, most)}`;
  }
  const now = attribute(element, 'aria-valuetext') ?? attribute(element, 'aria-valuenow');
  if (now !== null && now !== '') return ` = ${exactly(now, most)}`;
  if (role === 'combobox' && nameOf(element) !== contentName(element) && contentName(element) !== '')
    return ` = ${exactly(contentName(element), most)}`;
  return '';
}

// What a page gives as a limit and is no number is none.
const limit = (said: string, otherwise: number): number =>
  said.trim() === '' || Number.isNaN(Number(said)) ? otherwise : Number(said);

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
