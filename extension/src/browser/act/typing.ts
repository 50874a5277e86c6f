// Strokes of keys: their events, and what a browser does by itself when a page lets it.
import { defaultButton } from '../forms.ts';
import { closeTopmost } from './closing.ts';
import {
  documentFor,
  editableOf,
  fits,
  focusedIn,
  isHtml,
  isInput,
  isSelect,
  isTextArea,
  isTextField,
  send,
  shadowOf,
  upwards,
  windowOf,
} from './dom.ts';
import { isCharacter, named, type Stroke } from './keys.ts';
import { flags, focusOn, sendMouse } from './mouse.ts';
import { type Clipboard, editContextOf, insertText, replaceValue, settleField, setValue } from './text.ts';

type KeyType = 'keydown' | 'keypress' | 'keyup';

function sendKey(type: KeyType, at: Element, { key, code, keyCode, modifiers }: Stroke): boolean {
  const view = windowOf(at);
  const character = key === 'Enter' ? 13 : isCharacter(key) ? (key.codePointAt(0) ?? 0) : 0;
  const legacy = type === 'keypress' ? { keyCode: character, charCode: character } : { keyCode, charCode: 0 };
  const init: KeyboardEventInit & { charCode: number } = {
    key,
    code,
    bubbles: true,
    cancelable: true,
    composed: true,
    view,
    ...legacy,
    which: legacy.keyCode,
    ...flags(modifiers),
  };
  return send(at, new view.KeyboardEvent(type, init));
}

const unknownKey: Stroke = { key: 'Unidentified', code: '', keyCode: 0, modifiers: [] };

/** Puts text into a field at once, between the events of a key without a name, as Chrome does when it fills a form. */
export function putValue(field: HTMLInputElement | HTMLTextAreaElement, value: string): void {
  sendKey('keydown', field, unknownKey);
  replaceValue(field, value);
  sendKey('keyup', field, unknownKey);
}

/** Where keys go in a document. */
function keysGoTo(owner: Document): Element {
  return focusedIn(owner) ?? owner.body ?? owner.documentElement;
}

/** Presses and releases one key, with what a browser does by itself unless the page prevents it. */
export function stroke(owner: Document, one: Stroke, clipboard: Clipboard): void {
  const at = keysGoTo(owner);
  const held = one.modifiers.map((name): Stroke => {
    const [code, keyCode] = named[name] ?? ['', 0];
    return { key: name, code, keyCode, modifiers: [name] };
  });
  for (const modifier of held) sendKey('keydown', at, modifier);
  let allowed = sendKey('keydown', at, one);
  const now = keysGoTo(owner);
  const types = (isCharacter(one.key) || one.key === 'Enter') && !command(one);
  if (allowed && types) allowed = sendKey('keypress', now, one);
  if (allowed) act(keysGoTo(owner), one, clipboard);
  const after = keysGoTo(owner);
  const released = sendKey('keyup', after, one);
  if (released && allowed && one.key === ' ' && after === at && presses(after)) sendClick(after);
  for (const modifier of held.toReversed()) sendKey('keyup', keysGoTo(owner), { ...modifier, modifiers: [] });
}

const command = ({ modifiers }: Stroke) => modifiers.includes('Control') || modifiers.includes('Meta');

function sendClick(at: Element): void {
  sendMouse('click', at, { x: 0, y: 0 });
}

const presses = (at: Element) =>
  fits(
    at,
    'button,summary,input[type=button],input[type=submit],input[type=reset],input[type=checkbox],input[type=radio]',
  );

type Deed = (at: Element, one: Stroke, clipboard: Clipboard) => void;

const shift = ({ modifiers }: Stroke) => modifiers.includes('Shift');
const deeds: Record<string, Deed> = {
  Enter: (at, one) => enter(at, shift(one)),
  Tab: (at, one) => tab(at, shift(one)),
  Escape: (at) => closeTopmost(at),
  Backspace: (at) => remove(at, true),
  Delete: (at) => remove(at, false),
};
for (const key of ['ArrowLeft', 'ArrowRight', 'ArrowUp', 'ArrowDown', 'Home', 'End', 'PageUp', 'PageDown'])
  deeds[key] = go;

// What a browser does by itself.
function act(at: Element, one: Stroke, clipboard: Clipboard): void {
  if (command(one)) commands[one.key.toLowerCase()]?.(at, one, clipboard);
  else if (one.modifiers.includes('Alt')) return;
  else if (isCharacter(one.key)) type(at, one);
  else deeds[one.key]?.(at, one, clipboard);
}

function type(at: Element, one: Stroke): void {
  if (isTyping(at)) insertText(at, one.key);
  else if (one.key === ' ' && !presses(at)) scrollPage(at, shift(one) ? -0.9 : 0.9);
  else if (isSelect(at)) chooseByLetter(at, one.key);
}

const isTyping = (at: Element): boolean =>
  (isTextField(at) && !at.readOnly && !at.disabled) ||
  editableOf(at) !== undefined ||
  editContextOf(at) !== undefined;

function format(name: 'bold' | 'italic' | 'underline'): Deed {
  return (at) => {
    if (editableOf(at) !== undefined) documentFor(at).execCommand(name);
  };
}

const commands: Record<string, Deed> = {
  a: (at) => {
    if (isTextField(at)) at.select();
    else documentFor(at).execCommand('selectAll');
  },
  c: (at, _, clipboard) => clipboard.copy(at),
  x: (at, _, clipboard) => clipboard.cut(at),
  v: (at, _, clipboard) => clipboard.paste(at),
  z: (at, one) => void documentFor(at).execCommand(shift(one) ? 'redo' : 'undo'),
  y: (at) => void documentFor(at).execCommand('redo'),
  b: format('bold'),
  i: format('italic'),
  u: format('underline'),
  home: go,
  end: go,
  backspace: (at) => {
    if (!isTyping(at)) return;
    selectionOf(at)?.modify('extend', 'backward', 'word');
    remove(at, true);
  },
};

function remove(at: Element, backward: boolean): void {
  if (!isTyping(at)) return;
  const view = windowOf(at);
  const inputType = backward ? 'deleteContentBackward' : 'deleteContentForward';
  const init = { inputType, bubbles: true, cancelable: true, composed: true };
  if (send(at, new view.InputEvent('beforeinput', init)))
    documentFor(at).execCommand(backward ? 'delete' : 'forwardDelete');
}

const opened = '[type=button],[type=submit],[type=reset],[type=image],[type=file],[type=color]';

function enter(at: Element, shift: boolean): void {
  if (isTextArea(at)) insertText(at, '\n');
  else if (editableOf(at) !== undefined) breakLine(at, shift);
  else if (isInput(at) && !fits(at, opened)) submitFrom(at);
  else if (isInput(at) || fits(at, 'a[href],button,summary,area[href]')) sendClick(at);
}

function breakLine(at: Element, shift: boolean): void {
  const view = windowOf(at);
  const inputType = shift ? 'insertLineBreak' : 'insertParagraph';
  if (
    send(
      at,
      new view.InputEvent('beforeinput', { inputType, bubbles: true, cancelable: true, composed: true }),
    )
  )
    documentFor(at).execCommand(inputType);
}

function submitFrom(at: HTMLInputElement): void {
  settleField(at);
  const { form } = at;
  if (form === null || sendByButton(form)) return;
  const fields = Array.from(documentFor(at).querySelectorAll('input')).filter(
    (one) =>
      one.form === form &&
      (isTextField(one) ||
        fits(one, 'input[type^=date],input[type=time],input[type=month],input[type=week]')),
  );
  if (fields.length <= 1) HTMLFormElement.prototype.requestSubmit.call(form);
}

/** Presses the first button of a form, as Enter in a field does, unless it is disabled. False: the form has none. */
export function sendByButton(form: HTMLFormElement): boolean {
  const button = defaultButton(form);
  if (button !== undefined && !fits(button, ':disabled')) sendClick(button);
  return button !== undefined;
}

const stops =
  'a[href],area[href],button,input:not([type=hidden]),select,textarea,summary,iframe,audio[controls],video[controls],' +
  '[tabindex],[contenteditable]:not([contenteditable=false])';

const isRadio = (one: Element): one is HTMLInputElement => isInput(one) && one.type === 'radio';

// Of a group of radio buttons Tab reaches the chosen one, or else the first.
function isEntry(radio: Element, all: readonly Element[]): boolean {
  if (!isRadio(radio) || radio.name === '') return true;
  const group = all.filter(isRadio).filter(({ name, form }) => name === radio.name && form === radio.form);
  return (group.find(({ checked }) => checked) ?? group[0]) === radio;
}

function tab(at: Element, back: boolean): void {
  const all: HTMLElement[] = [];
  const collect = (root: ParentNode) => {
    for (const one of root.querySelectorAll('*')) {
      if (
        isHtml(one) &&
        fits(one, stops) &&
        one.tabIndex >= 0 &&
        !fits(one, ':disabled') &&
        one.checkVisibility()
      )
        if (!one.closest('[inert]')) all.push(one);
      const inside = shadowOf(one);
      if (inside !== null) collect(inside);
    }
  };
  collect(documentFor(at));
  const reached = all.filter((one) => one === at || isEntry(one, all));
  const order = [
    ...reached.filter((one) => one.tabIndex > 0).sort((a, b) => a.tabIndex - b.tabIndex),
    ...reached.filter((one) => one.tabIndex === 0),
  ];
  const here = isHtml(at) ? order.indexOf(at) : -1;
  const next =
    order[here < 0 ? (back ? order.length - 1 : 0) : (here + (back ? -1 : 1) + order.length) % order.length];
  if (next === undefined) return;
  focusOn(next);
  if (isTextField(next) && isInput(next)) next.select();
}

const selectionOf = (at: Element) => documentFor(at).getSelection();

function scrollPage(at: Element, pages: number): void {
  for (const one of upwards(at)) {
    const style = windowOf(one).getComputedStyle(one).overflowY;
    if (one.scrollHeight > one.clientHeight && /auto|scroll/.test(style)) {
      one.scrollBy({ top: one.clientHeight * pages, behavior: 'instant' });
      return;
    }
  }
  const view = windowOf(at);
  view.scrollBy({ top: view.innerHeight * pages, behavior: 'instant' });
}

function go(at: Element, one: Stroke): void {
  const backward = ['ArrowLeft', 'ArrowUp', 'Home', 'PageUp'].includes(one.key);
  if (isRadio(at)) nextRadio(at, backward);
  else if (isInput(at) && (at.type === 'range' || (at.type === 'number' && /Up|Down/.test(one.key))))
    step(
      at,
      ['ArrowUp', runsLeft(at) ? 'ArrowLeft' : 'ArrowRight', 'PageUp', 'End'].includes(one.key),
      one.key,
    );
  else if (isSelect(at)) choose(at, optionAt(at, one.key, backward));
  else if (isTyping(at)) moveCaret(at, one, backward);
  else scrollBy(at, one.key, backward);
}

const runsLeft = (at: Element): boolean => windowOf(at).getComputedStyle(at).direction === 'rtl';

function optionAt(at: HTMLSelectElement, key: string, backward: boolean): number {
  const last = at.options.length - 1;
  if (key === 'Home') return 0;
  if (key === 'End') return last;
  return Math.min(Math.max(at.selectedIndex + (backward ? -1 : 1), 0), last);
}

function moveCaret(at: Element, one: Stroke, backward: boolean): void {
  const far = command(one) ? 'documentboundary' : 'lineboundary';
  const line = /Up|Down/.test(one.key) ? 'line' : 'character';
  const unit = one.key === 'Home' || one.key === 'End' ? far : line;
  // To the left is forward in a text that runs to the left.
  const side = one.key === 'ArrowLeft' ? 'left' : one.key === 'ArrowRight' ? 'right' : undefined;
  const direction = side ?? (backward ? 'backward' : 'forward');
  selectionOf(at)?.modify(shift(one) ? 'extend' : 'move', direction, unit);
}

function scrollBy(at: Element, key: string, backward: boolean): void {
  const sign = backward ? -1 : 1;
  if (key === 'Home' || key === 'End') scrollPage(at, sign * 1e6);
  else if (key.startsWith('Page')) scrollPage(at, sign * 0.9);
  else if (key === 'ArrowUp' || key === 'ArrowDown') scrollPage(at, sign * 0.06);
}

function step(at: HTMLInputElement, raise: boolean, key: string): void {
  const before = at.value;
  if (at.type === 'range' && (key === 'Home' || key === 'End'))
    setValue(at, key === 'Home' ? at.min || '0' : at.max || '100');
  else if (raise) at.stepUp();
  else at.stepDown();
  if (at.value !== before) told(at);
}

function told(at: Element): void {
  const view = windowOf(at);
  send(at, new view.Event('input', { bubbles: true, composed: true }));
  send(at, new view.Event('change', { bubbles: true }));
}

function nextRadio(at: HTMLInputElement, back: boolean): void {
  const all = Array.from(documentFor(at).querySelectorAll('input'))
    .filter(isRadio)
    .filter(({ name, form, disabled }) => name === at.name && form === at.form && !disabled);
  const next = all[(all.indexOf(at) + (back ? -1 : 1) + all.length) % all.length];
  if (next === undefined) return;
  focusOn(next);
  sendClick(next);
}

function choose(at: HTMLSelectElement, index: number): void {
  if (index === at.selectedIndex) return;
  at.selectedIndex = index;
  told(at);
}

function chooseByLetter(at: HTMLSelectElement, letter: string): void {
  const index = Array.from(at.options).findIndex((one) =>
    one.text.toLowerCase().startsWith(letter.toLowerCase()),
  );
  if (index >= 0) choose(at, index);
}
