// Where the caret is and what is selected: keys that only change that are told in a few words, since no line shows it.
import { focusedIn, isElement, isTextField, plain } from './dom.ts';

interface Caret {
  at: Element | null; // where the focus is
  from: number | null; // in a field
  to: number | null;
  selected: string;
  nodes: readonly unknown[]; // in the page, or in an editor
}

/** Where the caret of a document is now. */
export function caretIn(owner: Document): Caret {
  const at = focusedIn(owner);
  if (at !== null && isTextField(at)) {
    const { selectionStart: from, selectionEnd: to, value } = at;
    return { at, from, to, selected: from === null || to === null ? '' : value.slice(from, to), nodes: [] };
  }
  const selection = owner.getSelection();
  const { anchorNode, anchorOffset, focusNode, focusOffset } = selection ?? {};
  const nodes = [anchorNode, anchorOffset, focusNode, focusOffset];
  return { at, from: null, to: null, selected: selection?.toString() ?? '', nodes };
}

const isSame = (one: Caret, other: Caret): boolean =>
  one.at === other.at &&
  one.from === other.from &&
  one.to === other.to &&
  one.selected === other.selected &&
  one.nodes.every((node, i) => node === other.nodes[i]);

/** What keys made of the caret, in words; undefined for nothing. */
export function caretSince(before: Caret, owner: Document): string | undefined {
  const now = caretIn(owner);
  if (isSame(before, now) || before.at !== now.at) return undefined;
  const { at, from, to, selected } = now;
  const text = at !== null && isTextField(at) ? at.value : undefined;
  if (selected !== '') return `${selected === textOf(at) ? 'All ' : ''}${characters(selected)} selected`;
  if (text === undefined) return 'The caret moved';
  const place = from === 0 ? 'the start' : to === text.length ? 'the end' : `character ${from}`;
  return `The caret is at ${place}`;
}

const textOf = (at: Element | null): string =>
  at !== null && isTextField(at) ? at.value : plain(isElement(at) ? (at.textContent ?? '') : '');

const characters = (text: string): string =>
  `${text.length} ${text.length === 1 ? 'character' : 'characters'}`;

/** What a key copied, in words. */
export const sayCopied = (text: string): string => `${characters(text)} copied`;
