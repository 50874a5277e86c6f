// A formula in one line: as the page's author wrote it, where MathML keeps that, or else by what stands in it.
import { attribute, textOf, within } from './dom.ts';

/** The words of a formula (MathML). */
export function formulaOf(math: Element): string {
  const tex = within(math, 'annotation[encoding="application/x-tex"]')[0];
  return attribute(math, 'alttext') ?? (tex === undefined ? written(math) : textOf(tex));
}

function written(element: Element): string {
  const parts = Array.from(element.children, written);
  const [first = '', second = '', third = ''] = parts;
  switch (element.localName) {
    case 'semantics':
      return first;
    case 'mfrac':
      return `${together(first)}/${together(second)}`;
    case 'msqrt':
      return `√${together(parts.join(''))}`;
    case 'mroot':
      return `${together(second)}√${together(first)}`;
    case 'msup':
    case 'mover':
      return `${first}^${together(second)}`;
    case 'msub':
    case 'munder':
      return `${first}_${together(second)}`;
    case 'msubsup':
    case 'munderover':
      return `${first}_${together(second)}^${together(third)}`;
    case 'mtr':
      return `${parts.join(', ')}; `;
    default:
      return parts.length > 0 ? parts.join('') : textOf(element);
  }
}

const together = (part: string): string => (/^[\p{L}\p{N}.]+$/u.test(part) ? part : `(${part})`);
