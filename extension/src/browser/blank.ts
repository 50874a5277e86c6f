// Empty boxes that are drawn to be pressed: the fields of a board, colours to choose from. Nothing in a page says from
// outside that a script listens to them, so that they are known by how they are made and drawn.
import { attributes, content, has, holder, tag } from './dom.ts';
import { isSeen, styleOf, visible } from './drawn.ts';
import { known } from './moment.ts';

const least = 8; // pixels of a side
const most = 400;
const series = 4; // boxes alike
const mostSiblings = 60; // that are looked at
const boxes = new Set('div span i b li td'.split(' '));
const decorations = new RegExp(
  'skelet|placeholder|spinner|load|progress|divid|separat|spac|shimmer|gutter|back(?:drop|ground)|overlay|' +
    'bar\\b|line\\b|arrow|caret|shadow|badge',
  'i',
);

/** Whether an element is an empty box that a person would try to press. */
export function isBlankBox(element: Element): boolean {
  const about = known(element);
  about.blank ??= readBlank(element);
  return about.blank;
}

function readBlank(element: Element): boolean {
  if (!isEmptyBox(element) || document.scripts.length === 0) return false;
  if (decorations.test(`${element.className} ${element.id}`) || !isForScripts(element)) return false;
  if (!visible(element) || !isSeen(element) || !isDrawnAsBox(element)) return false;
  const { width, height } = Element.prototype.getBoundingClientRect.call(element);
  return Math.min(width, height) >= least && Math.max(width, height) <= most;
}

const isEmptyBox = (element: Element): boolean =>
  boxes.has(tag(element)) && content(element).every((one) => typeof one === 'string' && one.trim() === '');

// By an id or data, or as one of several boxes alike.
function isForScripts(element: Element): boolean {
  if (has(element, 'id') || attributes(element).some((name) => name.startsWith('data-'))) return true;
  const others = Array.from(holder(element)?.children ?? []).slice(0, mostSiblings);
  return others.length >= series && others.every((one) => tag(one) === tag(element) && isEmptyBox(one));
}

function isDrawnAsBox(element: Element): boolean {
  const style = styleOf(element);
  if (style.pointerEvents === 'none') return false;
  const hasBorder = style.borderTopStyle !== 'none' && Number.parseFloat(style.borderTopWidth) > 0;
  const hasColour = !/^rgba\(\d+, \d+, \d+, 0\)$/.test(style.backgroundColor);
  return hasBorder || hasColour || style.backgroundImage !== 'none';
}
