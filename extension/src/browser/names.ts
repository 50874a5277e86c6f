// The accessible name of an element: https://www.w3.org/TR/accname-1.2/, and what HTML-AAM adds to it.

import { attribute, byId, closest, content, holder, legible, line, tag, textOf, within } from './dom.ts';
import { isReplaced, joinsWords, rendered, visible } from './drawn.ts';
import { saidWithin } from './embedded.ts';
import { formulaOf } from './formula.ts';
import { added, replacing } from './generated.ts';
import { labelsOf } from './labels.ts';
import { known } from './moment.ts';
import { isForLooks, namedByContent, namesOf, roleOf, textFields } from './roles.ts';

interface Walk {
  seen: Set<Element>;
  referred: boolean; // from aria-labelledby: its own references do not count
  inside: boolean; // part of the name of another element
  hidden: boolean; // that element is referred to and not displayed: then neither need its parts be
  budget: { left: number }; // characters: a name is not a document
  level: number; // of elements in elements
}

const maxName = 2000;
const deepest = 200;

/** The accessible name of an element, on one line; '' when it has none. */
export function nameOf(element: Element): string {
  const about = known(element);
  about.name ??= line(compute(element, start()));
  return about.name;
}

/** The name that an element would have by what stands in it, whatever its role. */
export function contentName(element: Element): string {
  const about = known(element);
  about.contentName ??= line(fromContent(element, start()));
  return about.contentName;
}

/** What its author calls it by aria-label, which may be something else than the words in it; '' without one. */
export const labelOf = (element: Element): string =>
  (attribute(element, 'aria-label') ?? '').trim() === '' ? '' : nameOf(element);

const start = (): Walk => ({
  seen: new Set(),
  referred: false,
  inside: false,
  hidden: false,
  budget: { left: maxName },
  level: 0,
});

function referredText(element: Element, ids: string, walk: Walk): string {
  const texts: string[] = [];
  for (const id of ids.split(/\s+/)) {
    const target = id === '' ? undefined : byId(element, id);
    if (target === undefined) continue;
    const part = { ...walk, referred: true, inside: true, hidden: isHidden(target) };
    texts.push(compute(target, part));
  }
  return texts.filter((text) => text.trim() !== '').join(' ');
}

// The steps of https://www.w3.org/TR/accname-1.2/#comp_computation, in their order.
function compute(element: Element, walk: Walk): string {
  if (walk.budget.left <= 0 || walk.level > deepest) return '';
  if (walk.inside && !walk.hidden && isHidden(element)) return partsThatShow(element, walk);
  if (tag(element) === 'slot') return fromContent(element, walk); // it is drawn by what is put into it
  if (!walk.referred) {
    const ids = namesOf(element);
    const text = ids === null ? '' : referredText(element, ids, walk);
    if (text.trim() !== '') return text;
  }
  if (walk.seen.has(element)) return '';
  walk.seen.add(element);
  const role = roleOf(element);
  if (walk.inside) {
    const value = saidWithin(element, role);
    if (value !== undefined) return ` ${value} `;
  }
  const label = attribute(element, 'aria-label');
  if (label !== null && label.trim() !== '') return walk.inside ? ` ${label} ` : label;
  const forLooks = isForLooks(element);
  const native = forLooks ? '' : (replacing(element) ?? byHost(element, role, walk));
  if (native.trim() !== '') return native;
  if (namedByContent.has(role) || walk.inside) {
    const text = fromContent(element, walk);
    if (text.trim() !== '' || (walk.inside && text !== '')) return text;
  }
  return forLooks ? '' : (attribute(element, 'title') ?? '');
}

const isHidden = (element: Element): boolean =>
  attribute(element, 'aria-hidden') === 'true' || !visible(element);

// What is in something invisible can be visible again.
function partsThatShow(element: Element, walk: Walk): string {
  if (attribute(element, 'aria-hidden') === 'true' || !rendered(element)) return '';
  return content(element)
    .map((one) => (typeof one === 'string' ? '' : compute(one, { ...walk, level: walk.level + 1 })))
    .join(' ');
}

// https://www.w3.org/TR/html-aam-1.0/#accessible-name-and-description-computation
function byHost(element: Element, role: string, walk: Walk): string {
  if (element instanceof HTMLInputElement) {
    const { type } = element;
    if (type === 'submit' || type === 'reset' || type === 'button') {
      const own = labels(element, walk) || (attribute(element, 'value') ?? shownBy[type] ?? '');
      return own.trim() === '' ? (attribute(element, 'title') ?? '') : own;
    }
    if (type === 'image')
      return labels(element, walk) || attribute(element, 'alt') || attribute(element, 'title') || 'Submit';
    return labels(element, walk) || titleOrPlaceholder(element);
  }
  if (element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement)
    return labels(element, walk) || titleOrPlaceholder(element);
  switch (tag(element)) {
    case 'img':
    case 'area':
      return alternative(element, walk);
    case 'math':
      return formulaOf(element);
    case 'fieldset':
      return childText(element, 'legend', walk);
    case 'table':
      return childText(element, 'caption', walk);
    case 'details':
      return role === 'group' ? childText(element, 'summary', walk) : '';
    case 'optgroup':
    case 'option':
      return attribute(element, 'label') ?? '';
    case 'meter':
    case 'progress':
    case 'output':
    case 'button':
      return labels(element, walk);
    default:
      if (element instanceof SVGElement) return ofDrawing(element, walk);
      if (role === 'combobox') {
        const given = nameOfReplaced(element, walk);
        if (given !== '') return given;
      }
      if (textFields.has(role))
        return attribute(element, 'aria-placeholder') ?? attribute(element, 'data-placeholder') ?? '';
      return '';
  }
}

// Pictures and drawings are boxes of their own among words.
const alternative = (picture: Element, walk: Walk): string => apart(attribute(picture, 'alt') ?? '', walk);

const ofDrawing = (drawing: Element, walk: Walk): string =>
  apart(childText(drawing, 'title', walk) || (attribute(drawing, 'xlink:title') ?? ''), walk);

const apart = (words: string, { inside }: Walk): string => (inside && words !== '' ? ` ${words} ` : words);

// What buttons show that are given no words.
const shownBy: Record<string, string | undefined> = { submit: 'Submit', reset: 'Reset' };

// A box that is drawn right behind the list of the browser whose place it takes is called what that is.
function nameOfReplaced(box: Element, walk: Walk): string {
  let at: Element | undefined = box;
  for (let up = 0; up < 4 && at !== undefined; up++, at = holder(at)) {
    const before = at.previousElementSibling;
    if (before instanceof HTMLSelectElement && isReplaced(before)) return labels(before, walk);
  }
  return '';
}

const titleOrPlaceholder = (element: Element): string =>
  attribute(element, 'title') ||
  attribute(element, 'placeholder') ||
  attribute(element, 'aria-placeholder') ||
  '';

function childText(element: Element, name: string, walk: Walk): string {
  for (const child of content(element))
    if (typeof child !== 'string' && tag(child) === name)
      return compute(child, { ...walk, inside: true, hidden: walk.hidden || name === 'title' });
  return '';
}

function labels(element: Element, walk: Walk): string {
  if (walk.referred && walk.inside && closest(element, 'label') !== null) return '';
  return labelsOf(element)
    .map((label) => compute(label, { ...walk, inside: true, seen: new Set([...walk.seen, element]) }))
    .filter((text) => text.trim() !== '')
    .join(' ');
}

function fromContent(element: Element, walk: Walk): string {
  const [before, after] = added(element);
  let text = before;
  const ownsItems = roleOf(element) === 'treeitem';
  for (const node of content(element)) {
    if (walk.budget.left <= 0) break;
    if (typeof node === 'string') {
      const part = node.slice(0, walk.budget.left);
      walk.budget.left -= part.length;
      text += part;
      continue;
    }
    const name = tag(node);
    if (name === 'br') text += ' ';
    if (unread.has(name) || (ownsItems && isOfItems(node))) continue;
    const part = compute(node, { ...walk, inside: true, level: walk.level + 1 });
    text += joinsWords(node) ? part : ` ${part} `;
  }
  const owned = attribute(element, 'aria-owns');
  if (owned !== null)
    for (const id of owned.split(/\s+/)) {
      const target = id === '' ? undefined : byId(element, id);
      if (target !== undefined) text += ` ${compute(target, { ...walk, inside: true })}`;
    }
  return text + after;
}

// The items below one of a tree have names of their own.
const isOfItems = (element: Element): boolean => {
  const role = roleOf(element);
  return role === 'group' || role === 'treeitem';
};

const unread = new Set('script style template noscript head title meta link'.split(' '));

/** What stands in an element, as it is written, with its line breaks: not what an empty editor shows in its place. */
export const writtenText = (element: Element): string => {
  if (placeholderIn(element) !== undefined) return '';
  return legible(element instanceof HTMLElement ? element.innerText : textOf(element));
};

const placeholders =
  '.cm-placeholder, [data-slate-placeholder], [contenteditable="false"][class*="placeholder" i][aria-hidden="true"]';

/** The words that an editor draws itself while it is empty. */
export const placeholderIn = (editor: Element): string | undefined => {
  const shown = within(editor, placeholders).find(visible);
  return shown === undefined ? undefined : line(textOf(shown));
};
