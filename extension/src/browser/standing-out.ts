// Things of their own inside of something that can be clicked as a whole: a star and a bin in a row, the options of a
// list that a box draws. They have the same cursor as what they stand in, so that other signs have to tell them.
import { attribute, closest, content, has, holder, matches, tag, textOf, within } from './dom.ts';
import { pointer, rendered, styleOf } from './drawn.ts';
import { rowLike } from './kinds.ts';
import { known } from './moment.ts';
import { operable, roleOf } from './roles.ts';
import { isPointedOut, looksHovered } from './sheets.ts';

const least = 6; // pixels of a picture that can be met
const most = 64; // what is larger is no icon
const mostSiblings = 60; // that are looked at

/** Whether an element over which the cursor is the same as around it does something of its own there. */
export function standsOut(element: Element): boolean {
  const about = known(element);
  about.standsOut ??= readStandsOut(element);
  return about.standsOut;
}

function readStandsOut(element: Element): boolean {
  // What is dragged, or drawn on, is drawn with its parts.
  if (pointer(element) !== 'pointer' || isAllOf(element)) return false;
  const isIcon = isPicture(element);
  // In a button or link only a picture that is pointed out by itself is something else, such as the cross of a chip.
  if (isInControl(element)) return isIcon && isPointedOut(element);
  return (
    isIcon ||
    isPointedOut(element) ||
    looksHovered(element) ||
    isOneOfSeveral(element) ||
    isShapeOfSeveral(element)
  );
}

// Whether it is all that stands in a clickable thing: then it is how that is drawn.
function isAllOf(element: Element): boolean {
  const cursor = pointer(element);
  let at = element;
  for (;;) {
    const around = holder(at);
    if (around === undefined || pointer(around) !== cursor) return false;
    if (!content(around).every((one) => one === at || isNothing(one))) return false;
    const outside = holder(around);
    const begins = outside === undefined || pointer(outside) !== cursor;
    if (begins || standsOut(around)) return true;
    at = around;
  }
}

const isNothing = (one: Element | string): boolean =>
  typeof one === 'string' ? one.trim() === '' : !rendered(one);

// Whether what stands in a control has its cursor from that.
function isInControl(element: Element): boolean {
  const around = holder(element);
  if (around === undefined || pointer(around) !== pointer(element)) return false;
  const role = roleOf(around);
  const isControl = operable.has(role) || role === 'columnheader';
  return (isControl && !rowLike(tag(around), role)) || isInControl(around);
}

const drawing = new Set('svg i img span div em b'.split(' '));
const controls = 'a, button, input, select, textarea, [role]';

/** Whether it is a small picture, without words or controls in it. */
function isPicture(element: Element): boolean {
  if (!drawing.has(tag(element)) || operable.has(roleOf(element))) return false;
  const { width, height } = Element.prototype.getBoundingClientRect.call(element);
  if (width < least || height < least || width > most || height > most) return false;
  return textOf(element).trim() === '' && within(element, controls).length === 0;
}

const whole = new Set('td th p br wbr label'.split(' '));
const ofSentence = new Set('a b i em strong mark code kbd span'.split(' '));

// Whether it is one of several that are alike and have words each, as the options of a list are.
function isOneOfSeveral(element: Element): boolean {
  const name = tag(element);
  const classes = classesOf(element);
  if ((classes.length === 0 && name !== 'li') || whole.has(name) || !hasWords(element)) return false;
  if (within(element, controls).length > 0) return false; // words beside those
  const around = holder(element);
  if (around === undefined || roleOf(topOf(element)) !== '') return false;
  if (ofSentence.has(name) && styleOf(element).display === 'inline' && saysMore(around)) return false;
  const isAlike = (one: Element) =>
    tag(one) === name &&
    hasWords(one) &&
    (name === 'li' || classesOf(one).some((word) => classes.includes(word)));
  const others = Array.from(around.children).slice(0, mostSiblings);
  return others.some((one) => one !== element && isAlike(one));
}

const hasWords = (element: Element): boolean => textOf(element).trim() !== '';
const classesOf = (element: Element): string[] =>
  (attribute(element, 'class') ?? '').split(/\s+/).filter((word) => word !== '');

// Whether words stand between the elements in it, as in a sentence.
const saysMore = (element: Element): boolean =>
  content(element).some((one) => typeof one === 'string' && /[\p{L}\p{N}]/u.test(one));

const shapes = 'circle, ellipse, rect, path, polygon, polyline, line, g';
const marks = ['class', 'id'];

// Whether it is one of several shapes of a drawing that the page tells apart; those of an icon are that icon.
function isShapeOfSeveral(element: Element): boolean {
  if (!(element instanceof SVGElement) || !matches(element, shapes)) return false;
  const drawing = closest(element, 'svg');
  if (drawing === null || !marks.some((name) => has(element, name))) return false;
  const { width, height } = Element.prototype.getBoundingClientRect.call(drawing);
  const others = Array.from(holder(element)?.children ?? []).slice(0, mostSiblings);
  return Math.max(width, height) > most && others.some((one) => one !== element && matches(one, shapes));
}

// What can be clicked as a whole around an element.
function topOf(element: Element): Element {
  const cursor = pointer(element);
  let at = element;
  for (let around = holder(at); around !== undefined && pointer(around) === cursor; around = holder(at))
    at = around;
  return at;
}
