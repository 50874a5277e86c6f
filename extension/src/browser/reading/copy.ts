// A copy of what the page displays, in a document without a window, for code that changes what it reads.

import { ToolError } from '@tabrelay/plugin-sdk';
import { wordsAround } from '../generated.ts';
import { atOnce } from '../moment.ts';
import { childNodes, shadow, tag } from './members.ts';
import { body, inertDocument, root } from './page.ts';
import { shown } from './shown.ts';

const maxElements = 60_000;
const maxDepth = 800; // the parser of HTML stops at 512; a script does not

/** Copies the page without what is not displayed, with open shadow roots in the place of their hosts' content. */
export const copyShown = (): Document => atOnce(copyAll);

function copyAll(): Document {
  const copy = inertDocument();
  let elements = 0;

  const fill = (into: Node, from: Iterable<Node>, depth: number): void => {
    for (const node of from) {
      if (node.nodeType === Node.TEXT_NODE) into.appendChild(copy.createTextNode(node.nodeValue ?? ''));
      if (!(node instanceof Element) || !shown(node)) continue;
      if (++elements > maxElements) throw tooLarge();
      const twin = into.appendChild(withoutNames(copy.importNode(node, false)));
      const [before, after] = wordsAround(node);
      if (before !== '') twin.append(before);
      if (depth < maxDepth) fill(twin, content(node), depth + 1);
      if (after !== '') twin.append(after);
    }
  };

  const head = copy.documentElement.firstElementChild;
  for (const meta of root().querySelectorAll(
    'head > meta, head > title, head > link, script[type="application/ld+json"]',
  ))
    head?.appendChild(copy.importNode(meta, true));
  const copied = copy.documentElement.lastElementChild;
  if (copied !== null) fill(copied, childNodes(body()), 0);
  return copy;
}

/** The children a reader sees: those of the shadow root, and in it those that were put into its slots. */
function content(element: Element): Iterable<Node> {
  const given = element instanceof HTMLSlotElement ? element.assignedNodes() : [];
  return given.length > 0 ? given : childNodes(shadow(element) ?? element);
}

/** Names and ids that would stand in for members of the document or of a form. Links keep theirs. */
function withoutNames(element: Element): Element {
  if (tag(element) !== 'a') {
    for (const name of ['name', 'id']) Element.prototype.removeAttribute.call(element, name);
  }
  return element;
}

const tooLarge = () =>
  new ToolError(
    `The page has more than ${maxElements} elements, too many to look for an article. Read text, or use find.`,
    'PAGE_TOO_LARGE',
    { category: 'validation' },
  );
