// The text of elements as it is displayed, with the words that style sheets put into them: innerText has none of those.
import { holder } from '../dom.ts';
import { wordsAround } from '../generated.ts';
import { atOnce } from '../moment.ts';
import { childNodes, member, tag } from './members.ts';

// The elements with such words and what they stand in, while one call reads the document.
let affected: ReadonlySet<Element> | undefined;

/** The text of an element as it is displayed. */
export const textOf = (element: Element): string =>
  read().has(element) ? tidy(atOnce(() => joined(element))) : innerText(element);

function innerText(element: Element): string {
  const text =
    element instanceof HTMLElement
      ? member(HTMLElement.prototype, 'innerText', element)
      : member(Node.prototype, 'textContent', element);
  return typeof text === 'string' ? text : '';
}

function read(): ReadonlySet<Element> {
  if (affected === undefined) {
    affected = atOnce(lookForWords);
    queueMicrotask(() => {
      affected = undefined;
    });
  }
  return affected;
}

const mostElements = 30_000; // of more, looking at the style of each would take the time that reading has

function lookForWords(): Set<Element> {
  const found = new Set<Element>();
  const all = document.querySelectorAll('body, body *');
  if (all.length > mostElements) return found;
  for (const element of all) {
    const [before, after] = wordsAround(element);
    if (before === '' && after === '') continue;
    for (let at: Element | undefined = element; at !== undefined && !found.has(at); at = holder(at))
      found.add(at);
  }
  return found;
}

// As https://html.spec.whatwg.org/multipage/dom.html#rendered-text-collection-steps has it, as far as needed where
// such words are: all else is what the browser says itself.
function joined(element: Element): string {
  if (!Element.prototype.checkVisibility.call(element, { visibilityProperty: true })) return '';
  const [before, after] = wordsAround(element);
  const keeps = getComputedStyle(element).whiteSpace.startsWith('pre');
  let text = before;
  for (const node of childNodes(element)) {
    if (node instanceof Text) text += keeps ? node.data : node.data.replaceAll(/\s+/g, ' ');
    else if (node instanceof Element) text += around(node, read().has(node) ? joined(node) : withEdges(node));
  }
  return text + after;
}

// Blanks at the edges of inline text, which the browser leaves out of it, are part of the line it stands in.
function withEdges(element: Element): string {
  const text = innerText(element);
  const whole = element.textContent ?? '';
  if (text === '') return /^\s+$/.test(whole) && getComputedStyle(element).display === 'inline' ? ' ' : '';
  return `${/^\s/.test(whole) ? ' ' : ''}${text}${/\s$/.test(whole) ? ' ' : ''}`;
}

function around(element: Element, text: string): string {
  const name = tag(element);
  if (name === 'br') return '\n';
  const { display } = getComputedStyle(element);
  if (display === 'none' || text === '') return '';
  if (display === 'table-cell') return `${text}\t`;
  if (display.startsWith('inline') || display === 'contents') return text;
  return name === 'p' ? `\n\n${text}\n\n` : `\n${text}\n`;
}

const tidy = (text: string): string =>
  text
    .replaceAll(/ +/g, ' ')
    .replaceAll(/[ \t]*\n ?/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
