// Putting text into a page: values of fields, text at the caret, and a clipboard of our own, so that the person's is
// neither read nor changed.
import { placeholderIn } from '../names.ts';
import { sensitivity } from '../secrets.ts';
import { documentFor, editableOf, isHtml, isTextArea, isTextField, send, windowOf } from './dom.ts';

/** Fields whose change event is still owed, as when a person has typed and not left the field yet. */
const edited = new WeakSet<Element>();

/** Sets a field's value as the browser does: a framework that put its own setter on the element does not see it. */
export function setValue(field: HTMLInputElement | HTMLTextAreaElement, value: string): void {
  const view = windowOf(field);
  const owner = isTextArea(field) ? view.HTMLTextAreaElement : view.HTMLInputElement;
  const set = Object.getOwnPropertyDescriptor(owner.prototype, 'value')?.set;
  if (set === undefined) field.value = value;
  else Reflect.apply(set, field, [value]);
}

function inputEvent(
  type: 'beforeinput' | 'input',
  at: Element,
  inputType: string,
  data: string | null,
): Event {
  const bubbles = { bubbles: true, composed: true, cancelable: type === 'beforeinput' };
  return new (windowOf(at).InputEvent)(type, { ...bubbles, inputType, data });
}

/** Asks the page for an input; false when it takes it into its own hands. */
export const mayInput = (at: Element, inputType: string, data: string | null): boolean =>
  send(at, inputEvent('beforeinput', at, inputType, data));

// An older event that Chrome sends, too: what React calls beforeinput is this one.
function mayInsert(at: Element, text: string): boolean {
  const event = documentFor(at).createEvent('TextEvent');
  event.initTextEvent('textInput', true, true, windowOf(at), text);
  return send(at, event);
}

/** Replaces the value of a field, with the events a browser sends. */
export function replaceValue(field: HTMLInputElement | HTMLTextAreaElement, value: string): void {
  if (isTextField(field)) {
    if (!mayInput(field, 'insertReplacementText', value)) return;
    setValue(field, value);
    send(field, inputEvent('input', field, 'insertReplacementText', value));
  } else {
    setValue(field, value);
    send(field, new (windowOf(field).Event)('input', { bubbles: true, composed: true }));
  }
  edited.add(field);
  settleField(field);
}

/** Sends the change event that a field owes. */
export function settleField(field: Element): void {
  if (edited.delete(field)) send(field, new (windowOf(field).Event)('change', { bubbles: true }));
}

/** The text of an element that draws by itself what is typed into it (EditContext API), as some editors do. */
interface EditContext extends EventTarget {
  readonly text: string;
  readonly selectionStart: number;
  readonly selectionEnd: number;
  updateText(start: number, end: number, text: string): void;
  updateSelection(start: number, end: number): void;
}

export function editContextOf(at: Element): EditContext | undefined {
  const context: unknown = Reflect.get(at, 'editContext');
  return isEditContext(context) ? context : undefined;
}

const isEditContext = (value: unknown): value is EditContext =>
  value instanceof EventTarget && 'updateText' in value && 'selectionStart' in value;

function insertByContext(at: Element, context: EditContext, text: string): void {
  const Update: unknown = Reflect.get(windowOf(at), 'TextUpdateEvent');
  if (typeof Update !== 'function') return;
  const [a, b] = [context.selectionStart, context.selectionEnd];
  const [updateRangeStart, updateRangeEnd] = [Math.min(a, b), Math.max(a, b)];
  const selectionStart = updateRangeStart + text.length;
  context.updateText(updateRangeStart, updateRangeEnd, text);
  context.updateSelection(selectionStart, selectionStart);
  const init = { text, updateRangeStart, updateRangeEnd, selectionStart, selectionEnd: selectionStart };
  const event: unknown = Reflect.construct(Update, ['textupdate', init]);
  if (event instanceof Event) send(context, event);
}

/** Inserts text at the caret, in place of what is selected. */
export function insertText(at: Element, text: string): void {
  const context = editContextOf(at);
  if (context !== undefined) {
    if (mayInput(at, 'insertText', text)) insertByContext(at, context, text);
    return;
  }
  const line = text === '\n' && isTextArea(at);
  if (!mayInput(at, line ? 'insertLineBreak' : 'insertText', line ? null : text)) return;
  if (!mayInsert(at, text)) return;
  if (isTextField(at)) edited.add(at);
  if (!documentFor(at).execCommand('insertText', false, text) && isTextField(at)) insertInto(at, text);
}

// Where the command does not work: fields of numbers and mail addresses have no selection to speak of.
function insertInto(field: HTMLInputElement | HTMLTextAreaElement, text: string): void {
  const start = field.selectionStart ?? field.value.length;
  const end = field.selectionEnd ?? field.value.length;
  setValue(field, field.value.slice(0, start) + text + field.value.slice(end));
  send(field, inputEvent('input', field, 'insertText', text));
}

/** What a person sees in an editor, without the characters that only hold a place. */
export function shownText(editor: Element): string {
  if (placeholderIn(editor) !== undefined) return '';
  const text = isHtml(editor) ? editor.innerText : (editor.textContent ?? '');
  return text
    .replace(/[\u200b\ufeff\u2060]/g, '')
    .replace(/\u00a0/g, ' ')
    .replace(/\r\n?/g, '\n');
}

/** Whether an editor shows a text: what separates paragraphs differs from editor to editor. */
export function shows(shown: string, wanted: string): boolean {
  const lines = (text: string) =>
    text
      .split('\n')
      .map((line) => line.trimEnd())
      .filter((line) => line !== '');
  const [a, b] = [lines(shown), lines(wanted.replace(/\r\n?/g, '\n'))];
  return a.length === b.length && a.every((line, i) => line === b[i]);
}

/** Where nobody has put the caret yet, what is typed goes behind what is there. */
export function caretToEnd(field: Element): void {
  if (isTextField(field)) {
    if (field.selectionStart !== 0 || field.selectionEnd !== 0) return;
    field.setSelectionRange(field.value.length, field.value.length);
  } else if (editableOf(field) === field) {
    const selection = documentFor(field).getSelection();
    if (selection?.isCollapsed !== true || selection.anchorOffset !== 0) return;
    selection.selectAllChildren(field);
    selection.collapseToEnd();
  }
}

/** Selects all that an editor holds. */
export function selectAllOf(editor: Element): void {
  documentFor(editor).getSelection()?.selectAllChildren(editor);
}

/** Whether the selection is all that an editor shows. */
export function isAllSelected(editor: Element): boolean {
  const selected = documentFor(editor).getSelection()?.toString() ?? '';
  return selected.replace(/\s/g, '') === shownText(editor).replace(/\s/g, '');
}

/** A paste of plain text; false when nothing in the page took it. */
export function pasteInto(at: Element, text: string): boolean {
  const view = windowOf(at);
  const clipboardData = new view.DataTransfer();
  clipboardData.setData('text/plain', text);
  return !send(
    at,
    new view.ClipboardEvent('paste', { clipboardData, bubbles: true, cancelable: true, composed: true }),
  );
}

/** A clipboard for the keys of one document. */
export class Clipboard {
  #held = new Map<string, string>();
  taken = 0; // how often something was copied or cut

  /** The text that was copied or cut last. */
  get text(): string {
    return this.#held.get('text/plain') ?? '';
  }

  copy(at: Element): void {
    this.#take(at, 'copy');
  }

  cut(at: Element): void {
    if (this.#take(at, 'cut') && (isTextField(at) || editableOf(at) !== undefined))
      if (mayInput(at, 'deleteByCut', null)) documentFor(at).execCommand('delete');
  }

  paste(at: Element): void {
    const view = windowOf(at);
    const clipboardData = new view.DataTransfer();
    for (const [type, text] of this.#held) clipboardData.setData(type, text);
    const init = { clipboardData, bubbles: true, cancelable: true, composed: true };
    const text = this.#held.get('text/plain');
    if (!send(at, new view.ClipboardEvent('paste', init)) || text === undefined) return;
    if (isTextField(at) || editableOf(at) !== undefined) insertText(at, text);
  }

  // Whether the page left it to us.
  #take(at: Element, type: 'copy' | 'cut'): boolean {
    const view = windowOf(at);
    const clipboardData = new view.DataTransfer();
    const init = { clipboardData, bubbles: true, cancelable: true, composed: true };
    const ours = send(at, new view.ClipboardEvent(type, init));
    const kept = new Map(Array.from(clipboardData.types, (one) => [one, clipboardData.getData(one)]));
    if (ours) {
      const text = selectedText(at);
      if (text === '') return false;
      kept.set('text/plain', text);
    }
    if (kept.size > 0) {
      this.#held = kept;
      this.taken++;
    }
    return ours;
  }
}

// Nothing of what may not be told: what is pasted elsewhere would be.
function selectedText(at: Element): string {
  if (sensitivity(at) !== undefined) return '';
  if (isTextField(at)) return at.value.slice(at.selectionStart ?? 0, at.selectionEnd ?? 0);
  return documentFor(at).getSelection()?.toString() ?? '';
}
