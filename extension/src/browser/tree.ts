// The page as a tree of lines, one for each thing: what is displayed, by role and name, and what can be acted on.
import { holder, matches } from './dom.ts';
import { pointer } from './drawn.ts';
import { inGrids } from './grids.ts';
import { forget, keeping } from './kept.ts';
import type { Line, Options } from './lines.ts';
import { atOnce } from './moment.ts';
import { type Deep, Writer } from './writer.ts';

export { describe } from './things.ts';

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
  return options.everything === true ? writer.lines : inGrids(writer.lines);
}

// While a modal dialog is open, nothing behind it can be reached.
function modal(root: Document): Element | undefined {
  const open = Array.from(root.querySelectorAll('dialog[open]')).filter((one) => matches(one, ':modal'));
  return open.at(-1);
}
