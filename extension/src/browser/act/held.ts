// What a form holds that an act sends: for the person who is asked, also where the page does not show it.
import { isShown } from '../drawn.ts';
import { formAt, partsOf } from '../forms.ts';
import { nameOf } from '../names.ts';
import { reference } from '../references.ts';
import { sensitivity } from '../secrets.ts';
import { cut } from '../words.ts';
import { attribute } from './dom.ts';

/** A field of a form, and what it holds. */
export interface Held {
  ref: string;
  name: string;
  value?: string; // left out where it is secret, and where it is only checked or not
  checked?: true;
  secret?: string; // why
  unseen?: true; // the page does not show it
}

const mostHeld = 8;
const mostOfName = 60;
const mostOfValue = 80;

/**
 * The fields of an element's form that hold something, but for some; how many there are besides; and a digest of what
 * they all hold, whole. The page cannot make up a form with the same digest: it does not know the salt.
 */
export function heldBy(
  at: Element,
  except: ReadonlySet<Element>,
  salt: number,
): { holds: Held[]; more: number; digest: string } {
  const form = formAt(at);
  const all = form === undefined ? [] : partsOf(form).filter((one) => !except.has(one) && isFilled(one));
  return {
    holds: all.slice(0, mostHeld).map(heldIn),
    more: Math.max(0, all.length - mostHeld),
    digest: digestOf(all, salt),
  };
}

function digestOf(fields: readonly Element[], salt: number): string {
  const text = JSON.stringify(fields.map((field) => [reference(field), holding(field)]));
  // 64 bits of FNV-1a, as two halves with seeds of their own.
  let [a, b] = [salt ^ 0x811c9dc5, ~salt ^ 0x811c9dc5];
  for (let at = 0; at < text.length; at++) {
    a = Math.imul(a ^ text.charCodeAt(at), 0x01000193);
    b = Math.imul(b ^ (text.charCodeAt(at) + at), 0x01000193);
  }
  return [a, b].map((half) => (half >>> 0).toString(16).padStart(8, '0')).join('');
}

function heldIn(field: Element): Held {
  const secret = sensitivity(field);
  const isChoice = field instanceof HTMLInputElement && chosen.has(field.type);
  const name = cut(nameOf(field) || attribute(field, 'name') || field.localName, mostOfName);
  return {
    ref: reference(field),
    name,
    ...(isChoice
      ? { checked: true }
      : secret === undefined
        ? { value: cut(holding(field), mostOfValue) }
        : { secret }),
    ...(isWritten(field) && !isShown(field) && { unseen: true }),
  };
}

const unsent = new Set(['hidden', 'submit', 'button', 'reset', 'image']);
const chosen = new Set(['checkbox', 'radio']);

// What is checked or chosen is often drawn beside a field that nobody sees.
const isWritten = (field: Element): boolean =>
  field instanceof HTMLTextAreaElement ||
  (field instanceof HTMLInputElement && !chosen.has(field.type) && field.type !== 'file');

function isFilled(field: Element): boolean {
  if (field.matches(':disabled')) return false;
  if (field instanceof HTMLInputElement) {
    if (unsent.has(field.type)) return false;
    if (chosen.has(field.type)) return field.checked;
  }
  return holding(field) !== '';
}

function holding(field: Element): string {
  if (field instanceof HTMLSelectElement)
    return Array.from(field.selectedOptions, (option) => option.label || option.value).join(', ');
  if (field instanceof HTMLTextAreaElement) return field.value;
  if (!(field instanceof HTMLInputElement)) return '';
  if (field.type === 'file') return Array.from(field.files ?? [], ({ name }) => name).join(', ');
  return field.value;
}
