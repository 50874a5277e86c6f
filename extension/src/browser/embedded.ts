// What a control says within the name of something else, as a field in a label does: its value.
// https://www.w3.org/TR/accname-1.2/#comp_embedded_control
import { attribute, byId, has, tag, textOf, within } from './dom.ts';
import { textFields } from './roles.ts';
import { sensitivity } from './secrets.ts';

const ranges = new Set('meter progressbar scrollbar slider spinbutton'.split(' '));
// What opens or holds others, none of which is a part of what it stands in.
const others = new Set('alertdialog dialog grid menu menubar tree treegrid'.split(' '));

/** What a control says in the name of another; undefined where it is none, and is told by what stands in it. */
export function saidWithin(element: Element, role: string): string | undefined {
  if (others.has(role) || others.has(attribute(element, 'role') ?? '')) return '';
  if (element instanceof HTMLSelectElement)
    return Array.from(element.selectedOptions, (option) => option.text).join(' ');
  if (element instanceof HTMLInputElement && textFields.has(role)) return typed(element);
  if (element instanceof HTMLTextAreaElement) return typed(element);
  if (ranges.has(role)) return rangeOf(element);
  if (role === 'listbox' || role === 'combobox') return chosen(element, role);
  if (textFields.has(role) && tag(element) !== 'input') return textOf(element);
  return undefined;
}

// An empty field says at least what it is for.
function typed(field: HTMLInputElement | HTMLTextAreaElement): string | undefined {
  if (sensitivity(field) !== undefined) return field instanceof HTMLInputElement ? undefined : '';
  return field.value === '' ? undefined : field.value;
}

function rangeOf(element: Element): string | undefined {
  const said = attribute(element, 'aria-valuetext') ?? attribute(element, 'aria-valuenow');
  if (said !== null) return said;
  if (element instanceof HTMLInputElement) return element.value;
  return element instanceof HTMLProgressElement || element instanceof HTMLMeterElement
    ? String(element.value)
    : undefined;
}

// What is chosen in a list, or in the one that a box opens; a box without a list says what stands in it.
function chosen(element: Element, role: string): string | undefined {
  const lists = [element, ...owned(element)];
  const field = lists.flatMap((list) => within(list, 'input'))[0];
  if (field instanceof HTMLInputElement && field.value !== '') return typed(field);
  const options = lists.flatMap((list) => within(list, '[role~="option"]'));
  const said = options.filter((one) => attribute(one, 'aria-selected') === 'true').map((one) => textOf(one));
  if (said.length > 0) return said.join(' ');
  return role === 'listbox' || options.length > 0 ? '' : undefined;
}

const owned = (element: Element): Element[] =>
  ['aria-owns', 'aria-controls'].flatMap((name) =>
    has(element, name)
      ? (attribute(element, name) ?? '').split(/\s+/).flatMap((id) => byId(element, id) ?? [])
      : [],
  );
