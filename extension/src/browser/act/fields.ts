// What fields there are, and which values each takes. Nothing is changed here.
import { isKeyTaker, takesKeysOnly } from '../drawn.ts';
import {
  attribute,
  controlledBy,
  documentFor,
  editableOf,
  fits,
  isElement,
  isHtml,
  isInput,
  isSelect,
  isTextArea,
  isTextField,
  nearest,
  plain,
  roleOf,
} from './dom.ts';
import { NotDone } from './failure.ts';
import type { Page } from './page.ts';
import { editContextOf, setValue } from './text.ts';

export type Value = string | number | boolean | string[];

/** What a field holds after it was filled. */
export interface Filled {
  ref: string;
  on?: string | undefined; // what the field is
  value: Value | undefined; // undefined: not for anybody to read
  asked?: Value; // when the page changed it
  verified: boolean;
  note?: string;
}

/** A field that was filled, and how to read it once more. */
export interface Reading {
  filled: Filled;
  again?: () => Filled;
}

export interface Task {
  page: Page;
  ref: string;
  target: Element;
  value: Value;
}

export const lateMs = 500; // for what a page does with a value after its event
export const untilMs = 20;

/** Waits until something holds, up to a time. */
export async function eventually(page: Page, ms: number, holds: () => boolean): Promise<boolean> {
  const until = performance.now() + ms;
  while (!holds()) {
    if (performance.now() >= until) return false;
    await page.pause(untilMs);
  }
  return true;
}

export const wrong = (message: string, hint?: string) =>
  new NotDone('VALIDATION_ERROR', `${message}`, hint === undefined ? {} : { hint });

/** What kind of field it is, and how it is filled. */
export type Kind =
  | 'text'
  | 'select'
  | 'check'
  | 'radio'
  | 'set'
  | 'editor'
  | 'combobox'
  | 'listbox'
  | 'slider';

export function kindOf(element: Element): Kind | undefined {
  if (isSelect(element)) return 'select';
  const role = roleOf(element);
  if (nearest(element, '.monaco-editor') !== null) return 'editor';
  if (isInput(element)) {
    if (element.type === 'checkbox') return 'check';
    if (element.type === 'radio') return 'radio';
    if (['date', 'time', 'datetime-local', 'month', 'week', 'color', 'range'].includes(element.type))
      return 'set';
    if (!isTextField(element)) return undefined;
  }
  // An editor that completes what is written in it is still written in.
  const completes = attribute(element, 'aria-autocomplete') === 'list' && editableOf(element) === undefined;
  // One that only says so, and has no list yet, may be for words of one's own.
  const opensList =
    isTextField(element) &&
    fits(element, '[aria-haspopup=listbox]') &&
    (element.readOnly || (fits(element, '[aria-controls],[aria-owns]') && !fits(element, searching)));
  // What opens a calendar offers no options: what it takes is typed.
  const opensDialog =
    isTextField(element) && fits(element, '[aria-haspopup=dialog]') && !controlsOptions(element);
  if ((role === 'combobox' && !opensDialog) || completes || opensList) return 'combobox';
  if (takesKeysOnly(element) || editContextOf(element) !== undefined) return 'editor';
  if (isTextField(element)) return 'text';
  if (
    ['checkbox', 'switch', 'menuitemcheckbox'].includes(role) ||
    attribute(element, 'aria-pressed') !== null
  )
    return 'check';
  if (role === 'radio' || role === 'menuitemradio' || role === 'option') return 'radio';
  if (role === 'slider') return 'slider';
  // A splitter between two parts of a window is moved like one.
  if (fits(element, '[role="separator" i][aria-valuenow][tabindex]')) return 'slider';
  if (role === 'listbox' || role === 'radiogroup') return 'listbox';
  if (editorOf(element) !== undefined) return 'editor';
  if (attribute(element, 'aria-haspopup') === 'listbox') return 'combobox';
  if (role === 'spinbutton') return 'slider';
  return undefined;
}

const controlsOptions = (element: Element): boolean =>
  controlledBy(element).some(
    (one) => one.querySelector('[role=option]') !== null && one.querySelector('[role=grid]') === null,
  );

/** Whether one types text into it. */
export const takesText = (at: Element): boolean => isTextField(at) || editableOf(at) !== undefined;

/** Fields that take any words, whatever they offer. */
export const searching = '[type=search],[role=searchbox],[role=search] *,search *';
const suggesting = `${searching},[role=combobox],[aria-autocomplete],[autocomplete=off]`;

/** Whether pages mostly offer something for what is typed into such a field. */
export const suggests = (at: Element): boolean => takesText(at) && fits(at, suggesting);

/** What a label stands for, and any other element itself. */
export function fieldOf(element: Element): Element {
  const control: unknown = element.localName === 'label' ? Reflect.get(element, 'control') : undefined;
  return isElement(control) ? control : element;
}

/** The element in which an editor takes its input, from any part of the editor. */
export function editorOf(element: Element): HTMLElement | undefined {
  const own = editableOf(element) ?? (editContextOf(element) && isHtml(element) ? element : undefined);
  if (own !== undefined) return own;
  const monaco = nearest(element, '.monaco-editor');
  const input = monaco?.querySelector('.native-edit-context, textarea.inputarea');
  if (isElement(input) && isHtml(input)) return input;
  if (takesKeysOnly(element) && isHtml(element)) return element;
  const inside = element.querySelectorAll(
    '[contenteditable=""],[contenteditable=true],[contenteditable=plaintext-only]',
  );
  const only = inside.length === 1 ? inside[0] : undefined;
  return only !== undefined && isHtml(only) ? only : undefined;
}

/** Checks a value against its field, and gives the kind. Nothing is changed. */
export function check(page: Page, target: Element, value: Value): Kind {
  const named = page.describe(target);
  const kind = kindOf(target);
  if (isInput(target) && target.type === 'file') throw wrong(`${named} takes files`, 'Use upload');
  if (kind === undefined) throw wrong(`${named} is not a field that can be filled`, 'Use click or press');
  // One does not type into a box that is for choosing alone.
  const choosing = kind === 'combobox' && fits(target, '[aria-expanded],[aria-haspopup=listbox]');
  const fixed = attribute(target, 'aria-readonly') === 'true' && !(choosing && isKeyTaker(target));
  if ((isTextField(target) && target.readOnly && !choosing) || fixed)
    throw wrong(
      `${named} is read-only`,
      'Click it: where it opens something, such as a calendar, that fills it',
    );
  if (kind === 'check' || kind === 'radio') asked(named, value);
  if (kind === 'select' && isSelect(target)) optionsFor(named, target, value);
  if (kind === 'slider' && !Number.isFinite(Number(value))) throw wrong(`${named} takes a number`);
  if (isInput(target) && !['checkbox', 'radio'].includes(target.type))
    checkInput(named, target, textOf(value));
  if (isTextArea(target)) checkLength(named, target, textOf(value));
  return kind;
}

export const textOf = (value: Value): string => (Array.isArray(value) ? value.join(', ') : String(value));

export function asked(named: string, value: Value): boolean {
  const text = String(value).toLowerCase();
  if (['true', 'on', 'yes', 'checked', '1'].includes(text)) return true;
  if (['false', 'off', 'no', 'unchecked', '0'].includes(text)) return false;
  throw wrong(`${named} takes true or false`);
}

function checkLength(named: string, field: HTMLInputElement | HTMLTextAreaElement, text: string): void {
  if (field.maxLength >= 0 && text.length > field.maxLength)
    throw wrong(`${named} takes at most ${field.maxLength} characters, not ${text.length}`);
}

const forms: Record<string, string> = {
  date: 'as 2026-11-22',
  time: 'as 17:30',
  'datetime-local': 'as 2026-11-22T17:30',
  month: 'as 2026-11',
  week: 'as 2026-W47',
  color: 'as #1a2b3c',
  number: 'a number',
};

// A field of the same kind that nobody sees says what becomes of the value.
function checkInput(named: string, field: HTMLInputElement, text: string): void {
  checkLength(named, field, text);
  const form = forms[field.type];
  if (text === '' && field.type !== 'color' && field.type !== 'range') return;
  if (field.type === 'range') checkRange(named, field, text);
  if (form === undefined) return;
  const probe = documentFor(field).createElement('input');
  probe.type = field.type;
  setValue(probe, text);
  if (probe.value === '' || (field.type === 'color' && probe.value !== text.toLowerCase()))
    throw wrong(
      `${named} takes ${field.type === 'number' ? form : `a ${field.type} ${form}`}, not ${JSON.stringify(text)}`,
    );
  for (const limit of ['min', 'max'] as const) {
    setValue(probe, field[limit]);
    const at = probe.value; // empty where the page's limit is none
    if (at === '' || field.type === 'color') continue;
    const beyond = field.type === 'number' ? Number(text) - Number(at) : text < at ? -1 : text > at ? 1 : 0;
    if (limit === 'min' ? beyond < 0 : beyond > 0)
      throw wrong(`${named} takes ${limit === 'min' ? 'nothing below' : 'nothing above'} ${at}`);
  }
}

function checkRange(named: string, field: HTMLInputElement, text: string): void {
  const [min, max] = [Number(field.min || 0), Number(field.max || 100)];
  const number = Number(text);
  if (text.trim() === '' || !Number.isFinite(number) || number < min || number > max)
    throw wrong(`${named} takes a number from ${min} to ${max}`);
}

/** The options a value names, exactly or as the only one that fits. */
export function optionsFor(named: string, select: HTMLSelectElement, value: Value): HTMLOptionElement[] {
  const wanted = Array.isArray(value) ? value : [String(value)];
  if (wanted.length > 1 && !select.multiple) throw wrong(`${named} takes one option`);
  const all = Array.from(select.options);
  return wanted.map((one) => {
    const option = pick(
      all,
      String(one),
      (at) => plain(at.label || at.text),
      (at) => at.value,
    );
    if (option === undefined) {
      const some = all.slice(0, 30).map((at) => JSON.stringify(plain(at.label || at.text)));
      throw wrong(
        `${named} has no option ${JSON.stringify(one)}`,
        `It has ${some.join(', ')}${all.length > 30 ? ', …' : ''}`,
      );
    }
    if (option.disabled || (option.parentElement !== null && fits(option, 'optgroup:disabled option')))
      throw wrong(`The option ${JSON.stringify(one)} of ${named} is disabled`);
    return option;
  });
}

/** What is meant by a name: its text, its value, its text in other letters, or the only one that begins with it. */
export function pick<One>(
  all: readonly One[],
  wanted: string,
  text: (one: One) => string,
  value: (one: One) => string,
): One | undefined {
  const want = plain(wanted);
  const lower = want.toLowerCase();
  const exact = all.find((one) => text(one) === want) ?? all.find((one) => value(one) === wanted);
  if (exact !== undefined) return exact;
  const same = all.filter((one) => text(one).toLowerCase() === lower);
  if (same.length === 1) return same[0];
  const begins = lower === '' ? [] : all.filter((one) => text(one).toLowerCase().startsWith(lower));
  return begins.length === 1 ? begins[0] : undefined;
}

/** What is told of a field. */
export function answer({ ref, value }: Task, now: Value, verified: boolean, note?: string): Filled {
  return {
    ref,
    value: now,
    ...(!verified && { asked: value }),
    verified,
    ...(note !== undefined && { note }),
  };
}
