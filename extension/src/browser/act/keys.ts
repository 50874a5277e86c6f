// Keys by their names: what a key is called, and which strokes a text of keys means.
import { NotDone } from './failure.ts';
import type { Modifier } from './mouse.ts';

export interface Stroke {
  key: string;
  code: string;
  keyCode: number;
  modifiers: Modifier[];
}

/** The keys that have a name, with their place on the keyboard. */
export const named: Record<string, [code: string, keyCode: number]> = {
  Enter: ['Enter', 13],
  Tab: ['Tab', 9],
  Escape: ['Escape', 27],
  Backspace: ['Backspace', 8],
  Delete: ['Delete', 46],
  Insert: ['Insert', 45],
  ArrowLeft: ['ArrowLeft', 37],
  ArrowUp: ['ArrowUp', 38],
  ArrowRight: ['ArrowRight', 39],
  ArrowDown: ['ArrowDown', 40],
  Home: ['Home', 36],
  End: ['End', 35],
  PageUp: ['PageUp', 33],
  PageDown: ['PageDown', 34],
  ContextMenu: ['ContextMenu', 93],
  Shift: ['ShiftLeft', 16],
  Control: ['ControlLeft', 17],
  Alt: ['AltLeft', 18],
  Meta: ['MetaLeft', 91],
};
for (let n = 1; n <= 12; n++) named[`F${n}`] = [`F${n}`, 111 + n];

/** Whether a key stands for the character it is named by, also one beyond the first 65,536. */
export const isCharacter = (key: string): boolean => Array.from(key).length === 1;

const others: Record<string, string> = {
  esc: 'Escape',
  return: 'Enter',
  space: ' ',
  spacebar: ' ',
  del: 'Delete',
  left: 'ArrowLeft',
  right: 'ArrowRight',
  up: 'ArrowUp',
  down: 'ArrowDown',
  plus: '+',
};
const modifierNames: Record<string, Modifier> = {
  alt: 'Alt',
  option: 'Alt',
  control: 'Control',
  ctrl: 'Control',
  meta: 'Meta',
  cmd: 'Meta',
  command: 'Meta',
  shift: 'Shift',
};

const punctuation: Record<string, [code: string, keyCode: number]> = {
  ' ': ['Space', 32],
  '-': ['Minus', 189],
  '=': ['Equal', 187],
  '[': ['BracketLeft', 219],
  ']': ['BracketRight', 221],
  '\\': ['Backslash', 220],
  ';': ['Semicolon', 186],
  "'": ['Quote', 222],
  ',': ['Comma', 188],
  '.': ['Period', 190],
  '/': ['Slash', 191],
  '`': ['Backquote', 192],
};
const shifted = '~`!1@2#3$4%5^6&7*8(9)0_-+={[}]|\\:;"\'<,>.?/';

function codeOf(character: string): [code: string, keyCode: number] {
  const at = shifted.indexOf(character);
  const plain = at >= 0 && at % 2 === 0 ? (shifted[at + 1] ?? character) : character;
  if (/^[a-z]$/i.test(plain)) return [`Key${plain.toUpperCase()}`, plain.toUpperCase().charCodeAt(0)];
  if (/^[0-9]$/.test(plain)) return [`Digit${plain}`, plain.charCodeAt(0)];
  return punctuation[plain] ?? ['', 0];
}

/** The stroke that types a character. */
export function strokeFor(character: string): Stroke {
  const key = character === '\n' ? 'Enter' : character === '\t' ? 'Tab' : character;
  const [code, keyCode] = named[key] ?? codeOf(key);
  const needsShift =
    key.length === 1 &&
    ((shifted.indexOf(key) >= 0 && shifted.indexOf(key) % 2 === 0) || /^[A-Z]$/.test(key));
  return { key, code, keyCode, modifiers: needsShift ? ['Shift'] : [] };
}

/** Reads keys like "Enter", "Control+A" or "g i": strokes apart by spaces, the keys of one joined by plus signs. */
export function readKeys(text: string): Stroke[] {
  if (text.trim() === '') return [strokeFor(' ')];
  return text.trim().split(/\s+/).map(readStroke);
}

function readStroke(text: string): Stroke {
  const parts =
    text === '+' ? ['+'] : text.endsWith('++') ? [...text.slice(0, -2).split('+'), '+'] : text.split('+');
  const last = parts.pop() ?? '';
  const modifiers = parts.map((part) => {
    const modifier = modifierNames[part.toLowerCase()];
    if (modifier === undefined) throw unknownKey(text, part);
    return modifier;
  });
  const key = keyName(last);
  if (key === undefined) throw unknownKey(text, last);
  const [code, keyCode] = named[key] ?? codeOf(key);
  // A key has the name that it has on a keyboard: Control+S is "s" there, Shift+1 is "!", and "?" takes Shift.
  if (modifiers.includes('Shift')) return { key: withShift(key), code, keyCode, modifiers };
  if (modifiers.length === 0) return { key, code, keyCode, modifiers: strokeFor(key).modifiers };
  return { key: /^[A-Z]$/.test(key) ? key.toLowerCase() : key, code, keyCode, modifiers };
}

function withShift(key: string): string {
  if (/^[a-z]$/.test(key)) return key.toUpperCase();
  const at = shifted.indexOf(key);
  return at % 2 === 1 ? (shifted[at - 1] ?? key) : key;
}

function keyName(part: string): string | undefined {
  if (isCharacter(part)) return part;
  const lower = part.toLowerCase();
  return (
    others[lower] ?? modifierNames[lower] ?? Object.keys(named).find((name) => name.toLowerCase() === lower)
  );
}

const unknownKey = (text: string, part: string) =>
  new NotDone(
    'VALIDATION_ERROR',
    `keys: there is no key ${JSON.stringify(part)} in ${JSON.stringify(text)}`,
    {
      hint: 'Keys are named as in KeyboardEvent.key: Enter, Escape, ArrowDown, a, Control+Shift+K. To type, give text',
    },
  );

// What belongs to the browser or the system: a page never gets it, or cannot do it.
const ofTheBrowser = /^(Control|Meta)\+(Shift\+)?[tnwq]$|^(Control|Meta)\+(Tab|l)$|^Alt\+(F4|Tab)$|^F1[12]$/i;

/** Throws when only a trusted key would do anything. */
export function refuseBrowserKeys(strokes: readonly Stroke[]): void {
  for (const { key, modifiers } of strokes) {
    const text = [...modifiers.toSorted(), key].join('+');
    if (ofTheBrowser.test(text))
      throw new NotDone('NEEDS_TRUSTED_INPUT', `${text} is a key of the browser itself`, {
        hint: 'Use the tools for tabs and addresses: open_tab, close_tab, navigate',
      });
  }
}
