// Empty boxes that are drawn to be pressed, and shapes of a drawing: the fields of a board, colours to choose from,
// stars that style sheets draw. Nothing in a page says from outside that a script listens to them, so that they are
// known by how they are made and drawn.
import { attribute, attributes, closest, content, has, holder, matches, tag, textOf, within } from './dom.ts';
import { isSeen, styleOf, visible } from './drawn.ts';
import { known } from './moment.ts';

const least = 8; // pixels of a side
const most = 400;
const fewest = 3; // boxes alike
const mostSiblings = 60; // that are looked at
const boxes = new Set('a div span i b em li td'.split(' '));
const decorations = new RegExp(
  'skelet|placeholder|spinner|load|progress|divid|separat|spac|shimmer|gutter|back(?:drop|ground)|overlay|' +
    'bar\\b|line\\b|arrow|caret|shadow|badge',
  'i',
);
// What classes call that is to be pressed.
const pressed =
  /\b(?:toggle|switch|check(?:box|mark)?|tick|radio|star|swatch|colou?r|cell|tile|square|slot|knob|thumb|btn|button)\b/i;

/** Whether an element is an empty box, or a shape, that a person would try to press. */
export function isBlankBox(element: Element): boolean {
  const about = known(element);
  about.blank ??= element instanceof SVGElement ? readShape(element) : readBlank(element);
  return about.blank;
}

function readBlank(element: Element): boolean {
  if (!isEmptyBox(element) || document.scripts.length === 0) return false;
  if (decorations.test(`${element.className} ${element.id}`) || !isForScripts(element)) return false;
  if (!visible(element) || !isSeen(element) || !isDrawnAsBox(element)) return false;
  const around = holder(element);
  if (around !== undefined && isEmptyBox(around) && isBlankBox(around)) return false; // it is how that is drawn
  const { width, height } = Element.prototype.getBoundingClientRect.call(element);
  return Math.min(width, height) >= least && Math.max(width, height) <= most;
}

const isBlank = (one: Element | string): boolean => typeof one === 'string' && one.trim() === '';

// Empty but for a part that is empty, such as the knob of a switch.
function isEmptyBox(element: Element): boolean {
  if (!boxes.has(tag(element))) return false;
  const parts = content(element).filter((one) => !isBlank(one));
  const [only] = parts;
  return (
    parts.length === 0 ||
    (parts.length === 1 && typeof only === 'object' && boxes.has(tag(only)) && content(only).every(isBlank))
  );
}

// By an id, data or class, or as one of several boxes alike.
function isForScripts(element: Element): boolean {
  const table = tag(element) === 'td' ? closest(element, 'table') : null;
  if (table !== null) return isFieldOf(table);
  if (has(element, 'id') || attributes(element).some((name) => name.startsWith('data-'))) return true;
  if (pressed.test((attribute(element, 'class') ?? '').replaceAll(/[-_]/g, ' '))) return true;
  const others = Array.from(holder(element)?.children ?? []).slice(0, mostSiblings);
  const alike = others.filter((one) => tag(one) === tag(element) && isEmptyBox(one));
  const classes = attribute(element, 'class');
  const hasClass = classes !== null && classes.trim() !== '';
  if (alike.length === others.length) return alike.length >= fewest;
  return hasClass && alike.filter((one) => attribute(one, 'class') === classes).length >= fewest;
}

// Whether an empty cell is a field: of a board, whose cells say a sign or two, or of a plan that is mostly empty.
function isFieldOf(table: Element): boolean {
  const about = known(table);
  if (about.board === undefined) {
    const cells = within(table, 'td').slice(0, mostSiblings);
    const words = cells.map((cell) => textOf(cell).trim().length);
    const isBoard = within(table, 'th').length === 0 && words.every((length) => length <= mostOfSign);
    const empty = words.filter((length) => length === 0).length;
    about.board = cells.length > fewest && (isBoard || (empty > 2 * fewest && empty > cells.length / 2));
  }
  return about.board;
}

const mostOfSign = 2; // characters

const shapes = 'circle, ellipse, rect, polygon';
const leastDrawing = 64; // pixels: what is smaller is an icon
const mostShapes = 40; // of a drawing that is no picture
const unseen = 'defs, clipPath, mask, pattern, marker, symbol';
const control = 'a, button, label, [role=button], [role=link], [role=img][aria-label], [aria-hidden=true]';

// One of some shapes of a drawing that is no icon, chart or picture.
function readShape(element: SVGElement): boolean {
  if (!matches(element, shapes) || document.scripts.length === 0) return false;
  const drawing = closest(element, 'svg');
  if (drawing === null || !isOfFewShapes(drawing) || closest(element, unseen) !== null) return false;
  const whole = Element.prototype.getBoundingClientRect.call(drawing);
  const { width, height } = Element.prototype.getBoundingClientRect.call(element);
  if (Math.min(width, height) < least || (width >= whole.width && height >= whole.height)) return false;
  return styleOf(element).pointerEvents !== 'none';
}

// Charts and pictures have many parts, and what stands in a control is how that is drawn.
function isOfFewShapes(drawing: Element): boolean {
  const about = known(drawing);
  if (about.board === undefined) {
    const { width, height } = Element.prototype.getBoundingClientRect.call(drawing);
    about.board =
      Math.max(width, height) > leastDrawing &&
      closest(drawing, control) === null &&
      within(drawing, shapes).length <= mostShapes &&
      within(drawing, 'line, path, image, polyline').length <= mostShapes;
  }
  return about.board;
}

function isDrawnAsBox(element: Element): boolean {
  const style = styleOf(element);
  if (style.pointerEvents === 'none') return false;
  const hasBorder = style.borderTopStyle !== 'none' && Number.parseFloat(style.borderTopWidth) > 0;
  const hasColour = !/^rgba\(\d+, \d+, \d+, 0\)$/.test(style.backgroundColor);
  return hasBorder || hasColour || style.backgroundImage !== 'none' || hasSign(element);
}

// A sign or picture that style sheets put into it, such as a star.
const hasSign = (element: Element): boolean =>
  ['::before', '::after'].some((part) => /^(?:"[^"]|url)/.test(getComputedStyle(element, part).content));
