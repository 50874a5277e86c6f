// The page as a tree of lines, one for each thing: what is displayed, by role and name, and what can be acted on.
import { holder, matches } from './dom.ts';
import { pointer } from './drawn.ts';
import { forget, keeping } from './kept.ts';
import { atOnce } from './moment.ts';
import { type Deep, Writer } from './writer.ts';

export { describe } from './things.ts';

/** One line, and whose it is. */
export interface Line {
  depth: number;
  text: string;
  element: Element;
  ref?: string; // of the thing it begins with
  frame?: boolean; // it is a frame's, whose own lines belong below it
  modal?: boolean; // it is of a modal dialog
}

export interface Options {
  /** Only what can be acted on. */
  interactive?: boolean;
  /** Also the items of long lists that are not on the screen, and long texts as a whole. */
  everything?: boolean;
  /** Nothing is taken from a look before. */
  anew?: boolean;
  /** How long it may take; what is not written then is left out. */
  time?: Time;
}

/** A span of time that ends. */
export class Time {
  readonly #until: number;
  isOver = false;

  constructor(ms: number) {
    this.#until = performance.now() + ms;
  }

  /** Whether it has ended by now. */
  ended(): boolean {
    this.isOver ||= performance.now() > this.#until;
    return this.isOver;
  }
}

/** The lines of a document, or of what an element holds, the element included. */
export const lines = (root: Document | Element, options: Options = {}): Line[] =>
  atOnce(() => write(root, options));

function write(root: Document | Element, options: Options): Line[] {
  if (options.anew === true) forget();
  const usual = root === document && options.interactive !== true && options.everything !== true;
  const keeper = usual ? keeping() : undefined;
  keeper?.begin();
  const deep: Deep[] = [];
  const writer = new Writer(options, root instanceof Document ? undefined : root, keeper, deep);
  if (root instanceof Document) {
    const top = modal(root) ?? root.body ?? root.documentElement;
    if (top !== null) writer.visit(top, '');
  } else {
    const around = holder(root);
    writer.visit(root, around === undefined ? '' : pointer(around));
  }
  writer.flush();
  for (const { element, around } of deep) {
    writer.visit(element, around);
    writer.flush();
  }
  keeper?.done();
  return writer.lines;
}

// While a modal dialog is open, nothing behind it can be reached.
function modal(root: Document): Element | undefined {
  const open = Array.from(root.querySelectorAll('dialog[open]')).filter((one) => matches(one, ':modal'));
  return open.at(-1);
}
