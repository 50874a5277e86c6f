// Fields of forms as a person sees them, without what nobody should read.

import { all, attribute, closest, has, matches, member, tag } from './members.ts';
import { activeElement, cut, line } from './page.ts';
import type { Room } from './request.ts';
import { textOf } from './words.ts';

export interface Field {
  label: string;
  name: string;
  type: string;
  /** Missing where it is secret, or there is none. */
  value?: string;
  checked?: boolean;
  required: boolean;
  disabled: boolean;
  /** Of a list to choose from. */
  options?: string[];
}

export const fieldSelector =
  'input:not([type="hidden" i]):not([type="submit" i]):not([type="button" ' +
  'i]):not([type="reset" i]):not([type="image" i]), select, textarea, ' +
  '[contenteditable=""], [contenteditable="true"], [role="textbox"], [role="combobox"]';

export const maxFields = 60; // of one form

const maxOptions = 30;

/** Values that stay in the page: passwords, also one that the page shows, one-time codes, payment cards. */
const secret =
  'input[type="password" i], [autocomplete*="password" i], [autocomplete*="one-time-code" ' +
  'i], [autocomplete*="cc-" i], [name*="cvc" i], [name*="cvv" i], [name*="passw" i], ' +
  '[name*="secret" i], [name*="token" i]';

/** What is to be known of a field; most: characters of its value. */
export function readField(element: Element, room: Room, most: number): Field {
  const name = tag(element);
  const type = name === 'input' ? attribute(element, 'type').toLowerCase() || 'text' : name;
  return {
    label: cut(labelOf(element), 200),
    name: cut(attribute(element, 'name') || attribute(element, 'id'), 200),
    type: cut(type, 30),
    ...contentOf(element, type, room, most),
    required: has(element, 'required') || attribute(element, 'aria-required') === 'true',
    disabled: matches(element, ':disabled') || attribute(element, 'aria-disabled') === 'true',
  };
}

function contentOf(
  element: Element,
  type: string,
  room: Room,
  most: number,
): Pick<Field, 'value' | 'checked' | 'options'> {
  if (isSecret(element, room)) return {};
  if (element instanceof HTMLSelectElement) {
    const chosen = Array.from(element.selectedOptions, (option) => line(option.text)).join(', ');
    const options = Array.from(element.options, (option) => cut(line(option.text), 100));
    return { value: cut(chosen, most), options: options.slice(0, maxOptions) };
  }
  if (element instanceof HTMLTextAreaElement) return { value: cut(element.value, most) };
  if (!(element instanceof HTMLInputElement)) return { value: cut(textOf(element).trim(), most) };
  if (type === 'checkbox' || type === 'radio')
    return { value: cut(element.value, most), checked: element.checked };
  return { value: cut(element.value, most) };
}

const isSecret = (element: Element, room: Room): boolean =>
  matches(element, secret) || room.isSecret?.(element) === true;

function labelOf(element: Element): string {
  const labels = member(HTMLElement.prototype, 'labels', element) ?? Reflect.get(element, 'labels');
  const ids = attribute(element, 'aria-labelledby').split(/\s+/).filter(Boolean);
  const scope = element.getRootNode();
  const named =
    scope instanceof Document || scope instanceof ShadowRoot ? ids.map((id) => byId(scope, id)) : [];
  const texts = [
    named.join(' '),
    attribute(element, 'aria-label'),
    labels instanceof NodeList
      ? Array.from(labels, (one) => (one instanceof Element ? textOf(one) : '')).join(' ')
      : '',
    attribute(element, 'title'),
    attribute(element, 'placeholder'),
  ];
  return line(texts.find((text) => text.trim() !== '') ?? '');
}

function byId(scope: Document | ShadowRoot, id: string): string {
  const found = (scope instanceof Document ? Document : DocumentFragment).prototype.querySelector.call(
    scope,
    `#${CSS.escape(id)}`,
  );
  return found === null ? '' : textOf(found);
}

/** What was marked in the field that has the focus; empty for none, and for what is secret. */
export function markedInField(room: Room): string {
  const field = activeElement();
  if (!(field instanceof HTMLInputElement || field instanceof HTMLTextAreaElement) || isSecret(field, room))
    return '';
  const { selectionStart, selectionEnd, value } = field;
  return selectionStart === null || selectionEnd === null ? '' : value.slice(selectionStart, selectionEnd);
}

/** What sends a form: the words on its buttons. */
export const buttons = (form: Element): string[] =>
  all(
    form,
    'button:not([type="button" i]):not([type="reset" i]), input[type="submit" i], ' + 'input[type="image" i]',
  )
    .filter((button) => closest(button, 'form') === form)
    .map((button) =>
      cut(line(textOf(button) || attribute(button, 'value') || attribute(button, 'alt')), 100),
    );
