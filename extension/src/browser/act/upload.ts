// Files for a page: into an input for files, or dropped where the page takes drops.

import { isCutOff } from '../drawn.ts';
import { cut, quote } from '../words.ts';
import { stillAgreed } from './agreed.ts';
import { documentFor, fits, isInput, nearest, send, upwards, windowOf, within } from './dom.ts';
import { NotDone } from './failure.ts';
import type { Page } from './page.ts';
import { ready, resolved } from './target.ts';

export interface GivenFile {
  name: string;
  type?: string | undefined;
  base64?: string | undefined;
  text?: string | undefined;
}

function fileFor(view: Window & typeof globalThis, { name, type, base64, text }: GivenFile): File {
  let content: BlobPart;
  if (base64 === undefined) content = text ?? '';
  else {
    try {
      content = Uint8Array.from(atob(base64), (one) => one.charCodeAt(0));
    } catch {
      throw new NotDone('VALIDATION_ERROR', `The base64 of ${JSON.stringify(name)} cannot be decoded`);
    }
  }
  return new view.File([content], name, { type: type ?? typeOf(name) });
}

const types: Record<string, string> = {
  txt: 'text/plain',
  csv: 'text/csv',
  md: 'text/markdown',
  html: 'text/html',
  json: 'application/json',
  pdf: 'application/pdf',
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  svg: 'image/svg+xml',
  zip: 'application/zip',
};
const typeOf = (name: string) =>
  types[name.split('.').at(-1)?.toLowerCase() ?? ''] ?? 'application/octet-stream';

/** The input for files that an element is, holds, or stands for. */
function inputOf(page: Page, element: Element): HTMLInputElement | undefined {
  const is = (one: Element | null | undefined): one is HTMLInputElement =>
    one != null && isInput(one) && one.type === 'file';
  if (is(element)) return element;
  const label = nearest(element, 'label');
  const control: unknown = label === null ? undefined : Reflect.get(label, 'control');
  if (control instanceof windowOf(element).Element && is(control)) return control;
  const [inside, another] = element.querySelectorAll('input[type=file]');
  if (is(inside) && is(another))
    throw new NotDone(
      'VALIDATION_ERROR',
      `There is more than one field for files in it: ${page.describe(inside)} and ${page.describe(another)}`,
    );
  if (is(inside)) return inside;
  return isButton(element) ? inputBeside(element) : undefined;
}

const isButton = (element: Element): boolean => fits(element, 'button,[role=button]');

const mostAround = 5; // elements

// The only input of a button's form, or one that its component keeps hidden: its click opens the picker of that.
function inputBeside(button: Element): HTMLInputElement | undefined {
  const form = nearest(button, 'form');
  const around = Array.from(upwards(button)).slice(1, 1 + mostAround);
  for (const at of form === null ? around : [...around.filter((one) => within(one, form)), form]) {
    const [first, second] = at.querySelectorAll('input[type=file]');
    if (first === undefined) continue;
    if (second !== undefined || !isInput(first)) return undefined;
    const isHidden = !Element.prototype.checkVisibility.call(first) || isCutOff(first);
    if (isHidden || at === form) return first;
  }
  return undefined;
}

const sayTypes = (types: string): string =>
  /^[\w.*/+, -]{1,160}$/.test(types) ? types : quote(cut(types, 160));

function checkAccepted(page: Page, input: HTMLInputElement, files: readonly File[]): void {
  const named = page.describe(input);
  if (files.length > 1 && !input.multiple && !input.webkitdirectory)
    throw new NotDone('VALIDATION_ERROR', `${named} takes one file, not ${files.length}`);
  const accepts = input.accept
    .split(',')
    .map((one) => one.trim().toLowerCase())
    .filter(Boolean);
  if (accepts.length === 0) return;
  for (const file of files) {
    const fits = accepts.some((one) => {
      if (one.startsWith('.')) return file.name.toLowerCase().endsWith(one);
      return one.endsWith('/*') ? file.type.startsWith(one.slice(0, -1)) : file.type === one;
    });
    if (!fits)
      throw new NotDone(
        'VALIDATION_ERROR',
        `${named} takes ${sayTypes(input.accept)}, not ${file.name} (${file.type})`,
      );
  }
}

/** Gives files to an input, or drops them on an element. */
export async function giveFiles(page: Page, ref: string, given: readonly GivenFile[]): Promise<object> {
  const element = resolved(page, ref);
  const view = windowOf(element);
  const files = given.map((one) => fileFor(view, one));
  const dataTransfer = new view.DataTransfer();
  for (const file of files) dataTransfer.items.add(file);
  const input = inputOf(page, element);
  if (input !== undefined) {
    checkAccepted(page, input, files);
    if (input.matches(':disabled'))
      throw new NotDone('TARGET_NOT_READY', `${page.describe(input)} is disabled`);
    input.files = dataTransfer.files;
    send(input, new view.Event('input', { bubbles: true, composed: true }));
    send(input, new view.Event('change', { bubbles: true }));
    await page.pause(20);
    const kept = Array.from(input.files ?? [], ({ name, size }) => ({ name, size }));
    // Many pages take the files and empty the input at once.
    return kept.length > 0
      ? { files: kept }
      : { files: [], note: 'The page took the files out of the input again' };
  }
  return drop(page, ref, dataTransfer, files);
}

async function drop(
  page: Page,
  ref: string,
  dataTransfer: DataTransfer,
  files: readonly File[],
): Promise<object> {
  const { hit, target, x, y } = await ready(page, ref, { uncovered: true, enabled: true });
  stillAgreed(target);
  const view = windowOf(hit);
  const init = {
    bubbles: true,
    cancelable: true,
    composed: true,
    view,
    dataTransfer,
    clientX: x,
    clientY: y,
  };
  const fire = (type: string) => send(hit, new view.DragEvent(type, init));
  // Whether something would take them is asked with events that are no act: of what only hovers nothing is done.
  const ask = (type: string) => EventTarget.prototype.dispatchEvent.call(hit, new view.DragEvent(type, init));
  ask('dragenter');
  if (ask('dragover')) {
    ask('dragleave');
    throw new NotDone('VALIDATION_ERROR', `${page.describe(target)} takes no files`, {
      hint: inputHint(page, target),
    });
  }
  fire('drop');
  return { dropped: files.map(({ name, size }) => ({ name, size })) };
}

function inputHint(page: Page, target: Element): string {
  const inputs = Array.from(documentFor(target).querySelectorAll('input[type=file]'));
  const near = inputs[0];
  if (inputs.length === 1 && near !== undefined)
    return `The page has one input for files: ${page.describe(near)}`;
  if (isButton(target))
    return 'Click it: where it asks for files, the answer says which reference takes them';
  return 'Give the reference of an input for files, or of an area for drops';
}
