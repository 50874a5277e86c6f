// How the browser draws an element: whether a person can see it, and whether more is in it than it shows.

import { kindOf } from './alike.ts';
import { attribute, content, holder, matches, pictureOf, tabIndex, tag, within } from './dom.ts';
import { type Cutting, isPage, known } from './moment.ts';
import { roleOf } from './roles.ts';
import { broughtInto, isOutside } from './scrolling.ts';
import { isPointedOnHover, isPointing } from './sheets.ts';

/** Its style as the browser computed it. */
export function styleOf(element: Element): CSSStyleDeclaration {
  const about = known(element);
  about.style ??= getComputedStyle(element);
  return about.style;
}

const absent = 0; // of `display: none`, or in something that is
const unseen = 1; // takes room, and is not drawn
const clear = 2; // transparent
const drawn = 3;

const seenAtAll = { opacityProperty: true, visibilityProperty: true };
const seenAsSuch = { visibilityProperty: true };

function display(element: Element): number {
  const about = known(element);
  about.display ??= readDisplay(element);
  return about.display;
}

function readDisplay(element: Element): number {
  const check = Element.prototype.checkVisibility;
  if (check.call(element, seenAtAll)) return drawn;
  if (check.call(element, seenAsSuch)) return clear;
  if (check.call(element)) return unseen;
  const picture = tag(element) === 'area' ? pictureOf(element) : undefined;
  if (picture !== undefined) return display(picture);
  // Without a box of its own, what is in it is drawn in what it stands in.
  const style = styleOf(element);
  const around = style.display === 'contents' ? holder(element) : undefined;
  if (around === undefined) return absent;
  const outside = display(around);
  return outside === unseen && style.visibility === 'visible' ? drawn : outside;
}

/** Whether it is drawn at all; it may be outside of what people see. */
export const isDrawn = (element: Element): boolean => display(element) === drawn;

/** Whether it takes part in the layout: not of `display: none`, nor in something that is. */
export const rendered = (element: Element): boolean => display(element) > absent;

/** Whether a person can see it, where they scroll to; it may be transparent. */
export const visible = (element: Element): boolean => display(element) > unseen;

/** Text that only programs find is not told: what is transparent, clipped to a dot, or far outside of the page. */
export const isShown = (element: Element): boolean => display(element) === drawn && isInSight(element);

// What nothing moves stands where that is which it stands in.
function isInSight(element: Element): boolean {
  const about = known(element);
  if (about.inSight === undefined) {
    const around = isPlain(element) ? holder(element) : undefined;
    about.inSight = ((around !== undefined && isInSight(around)) || isSeen(element)) && !isCutOff(element);
  }
  return about.inSight;
}

/** Whether something else is drawn in a field's place, which only keeps its value: nobody sees it, or gets to it. */
export function isReplaced(field: Element): boolean {
  if (tabIndex(field) >= 0) return false;
  if (!isCutOff(field) && (isDrawn(field) || styleOf(field).pointerEvents !== 'none')) return false;
  // A native list that a button opens has no other in its place.
  const around = tag(field) === 'select' ? holder(field) : undefined;
  return around === undefined || [around, holder(around) ?? around].some(hasBox);
}

const boxes = '[role=combobox],input[aria-haspopup=listbox]';
const hasBox = (around: Element): boolean => matches(around, boxes) || within(around, boxes).length > 0;

/** Whether something is there for programs alone, and people see what is drawn beside it, hidden from programs. */
export function isDrawnBeside(element: Element): boolean {
  const outer = holder(element);
  if (outer === undefined || !isDrawn(element)) return false;
  return [...content(outer), ...content(holder(outer) ?? outer)].some(
    (one) =>
      typeof one !== 'string' && attribute(one, 'aria-hidden') === 'true' && isDrawn(one) && isSeen(one),
  );
}

/** Whether a box without an extent, or a clip, leaves nothing of what stands in it to be seen. */
export function isCutOff(element: Element): boolean {
  const about = known(element);
  about.cut ??= readCut(element);
  return about.cut;
}

function readCut(element: Element): boolean {
  const { small, whole, position } = cuttingOf(element);
  if (whole) return true;
  if (isPage(element) || position === 'fixed') return false;
  if (small) {
    const { width, height } = element.getBoundingClientRect();
    if (width <= 1 || height <= 1) return true;
  }
  let around = holder(element);
  if (position === 'absolute')
    while (around !== undefined && cuttingOf(around).position === 'static') around = holder(around);
  return around !== undefined && isCutOff(around);
}

const nothing = /^(?:inset\((?:50|100)%|circle\(0|ellipse\(0)|^rect\((\d+px), (\d+px), \1, \2\)/;

function cuttingOf(element: Element): Cutting {
  const kind = kindOf(element);
  if (kind.cutting === undefined) {
    const style = styleOf(element);
    const clipped = nothing.test(style.clipPath) || nothing.test(style.clip);
    kind.cutting = {
      small: style.overflowY !== 'visible',
      whole: clipped || style.getPropertyValue('content-visibility') === 'hidden',
      position: style.position,
    };
  }
  return kind.cutting;
}

/** Whether its box is one that people see. */
export function isSeen(element: Element): boolean {
  const about = known(element);
  about.seen ??= readSeen(element);
  return about.seen;
}

function readSeen(element: Element): boolean {
  if (hasWords(element) && visible(element) && isFlowing(element)) return true;
  const box = Element.prototype.getBoundingClientRect.call(element);
  const { width, height } = box;
  if (isOutside(box) && !isScrolledAway(element, box))
    return (width === 0 && hasContents(element)) || isKeyTaker(element);
  if (width > 1 && height > 1) return true;
  // A line that is drawn straight across or down: its stroke does not count.
  if (element instanceof SVGElement && tag(element) !== 'svg' && Math.max(width, height) > 1) return true;
  // Drawn by something else: editors take their text in through a dot.
  const field = element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement;
  if (field || Reflect.get(element, 'editContext') instanceof EventTarget) return true;
  return hasContents(element);
}

/** Whether it is the dot that takes the keys of a box, which only offers options, outside of what is drawn of that. */
export function isKeyTaker(element: Element): boolean {
  if (roleOf(element) !== 'combobox' || tabIndex(element) < 0) return false;
  const around = holder(element);
  if (around === undefined || isPage(around)) return false;
  const box = Element.prototype.getBoundingClientRect;
  const [dot, drawn] = [box.call(element), box.call(around)];
  return dot.width <= 2 && (dot.right < drawn.left || dot.left > drawn.right) && isSeen(around);
}

const small = 30; // pixels: less shows no text

/** Whether a field is only where the keys of an editor go, which draws its text elsewhere. */
export function takesKeysOnly(field: Element): boolean {
  if (tag(field) !== 'textarea') return false;
  const { width, height } = Element.prototype.getBoundingClientRect.call(field);
  if (width <= 3 || (isCutOff(field) && isInDot(field))) return true;
  return styleOf(field).opacity === '0' && width < small && height < small;
}

// A wide field, of which a narrow box around it leaves nothing.
function isInDot(field: Element): boolean {
  const box = holder(field);
  return box !== undefined && box.getBoundingClientRect().width <= 3;
}

const isKeyField = (field: Element): boolean => rendered(field) && takesKeysOnly(field);

/** Whether it draws what goes in at a field beside it, as a terminal does: all that people see of that. */
export function drawsKeys(element: Element): boolean {
  const box = holder(element);
  if (box === undefined || isPage(box)) return false;
  const about = known(box); // asked of each element in it that is hidden from programs
  about.holdsKeyField ??= within(box, 'textarea').some(isKeyField);
  if (!about.holdsKeyField) return false;
  const isText = (one: Element | string) =>
    typeof one === 'string'
      ? one.trim() !== ''
      : one instanceof HTMLElement && isDrawn(one) && one.innerText.trim() !== '';
  return !content(box).some((one) => one !== element && isText(one));
}

/** Whether it is moved to where nobody can scroll, as what a page shows only under a pointer often is. */
export function isMovedAway(element: Element): boolean {
  if (!isDrawn(element) || isSeen(element)) return false;
  const box = Element.prototype.getBoundingClientRect.call(element);
  return box.width > 1 && box.height > 1 && isOutside(box);
}

// What is out of sight in something that scrolls can be scrolled to.
function isScrolledAway(element: Element, place: DOMRect): boolean {
  let box: DOMRect | undefined = place;
  for (let at = holder(element); at !== undefined && box !== undefined; at = holder(at))
    box = broughtInto(at, box);
  return box !== undefined && !isOutside(box);
}

const word = /[\p{L}\p{N}]/u;
const hasWords = (element: Element): boolean =>
  content(element).some((one) => typeof one === 'string' && word.test(one));

// Nothing moves it, and nothing moves what it stands in, up to the page: words of it are where people see them.
function isFlowing(element: Element): boolean {
  const about = known(element);
  if (about.flowing === undefined) {
    const kind = kindOf(element);
    kind.flowing ??= staysInPlace(styleOf(element));
    const around = kind.flowing ? holder(element) : undefined;
    about.flowing = kind.flowing && (around === undefined || isFlowing(around));
  }
  return about.flowing;
}

const staysInPlace = (style: CSSStyleDeclaration): boolean =>
  (style.position === 'static' ||
    (style.position === 'relative' && isZero(style.left) && isZero(style.top))) &&
  style.transform === 'none' &&
  style.translate === 'none' &&
  style.scale === 'none' &&
  style.rotate === 'none' &&
  style.offsetPath === 'none' &&
  style.float === 'none' &&
  style.direction === 'ltr' &&
  style.writingMode === 'horizontal-tb' &&
  style.display !== 'contents' &&
  !style.margin.includes('-') &&
  !style.textIndent.startsWith('-') &&
  Number.parseFloat(style.fontSize) > 1;

const isZero = (length: string): boolean => length === 'auto' || length === '0px';

// Nothing moves it away from where what stands around it is, or cuts it off.
function isPlain(element: Element): boolean {
  const kind = kindOf(element);
  if (kind.plain === undefined) {
    const style = styleOf(element);
    kind.plain =
      style.position === 'static' &&
      style.overflowY === 'visible' &&
      style.display !== 'contents' &&
      style.transform === 'none' &&
      style.float === 'none' &&
      !style.margin.includes('-') &&
      Number.parseFloat(style.fontSize) > 1;
  }
  return kind.plain;
}

// A box without an extent of its own can hold some that have one.
function hasContents(element: Element): boolean {
  const style = styleOf(element);
  if (style.display === 'contents') return true;
  if (style.overflow === 'hidden' && element.getBoundingClientRect().width === 1) return false;
  return Array.from(element.children)
    .slice(0, 8)
    .some((child) => {
      const box = child.getBoundingClientRect();
      return box.width > 1 && box.height > 1 && !isOutside(box);
    });
}

/** Whether more is in it than it shows. */
export function isScroller(element: Element): boolean {
  const kind = kindOf(element);
  kind.overflow ??= styleOf(element).overflowY;
  const overflowY = kind.overflow;
  // Where one direction is visible, or cut off, the other one scrolls neither.
  if (overflowY === 'visible' || overflowY === 'clip') return false;
  const scrolls = /auto|scroll/;
  if (scrolls.test(overflowY) && element.scrollHeight > element.clientHeight + 1) return true;
  return element.scrollWidth > element.clientWidth + 1 && scrolls.test(styleOf(element).overflowX);
}

/** Whether it stands in a line of text. */
export function isInline(element: Element): boolean {
  const kind = kindOf(element);
  if (kind.inline === undefined) {
    const { display: said } = styleOf(element);
    kind.inline = said.startsWith('inline') || said === 'contents' || said === 'none';
  }
  return kind.inline;
}

/** Whether its words go on those before it: it is no box among them. */
export function joinsWords(element: Element): boolean {
  const kind = kindOf(element);
  kind.joins ??= /^(?:inline|contents|none|ruby.*)$/.test(styleOf(element).display);
  return kind.joins;
}

/** Whether its words may stand apart from those beside it: it is a box among them, or has room at its sides. */
export function mayStandApart(element: Element): boolean {
  const kind = kindOf(element);
  kind.apart ??= !joinsWords(element) || hasRoom(styleOf(element));
  return kind.apart;
}

const hasRoom = (style: CSSStyleDeclaration): boolean =>
  [style.paddingLeft, style.paddingRight, style.marginLeft, style.marginRight].some(
    (length) => Number.parseFloat(length) > 0,
  );

/** Whether the words of one go on where those of the other end, as in a price of which each part is a box. */
export function adjoin(one: Node | null, next: Node | null): boolean {
  if (one === null || next === null) return false;
  const [before, behind] = [boxOfWords(one), boxOfWords(next)];
  return Math.abs(behind.left - before.right) < 2 && behind.top < before.bottom && before.top < behind.bottom;
}

function boxOfWords(node: Node): DOMRect {
  const range = document.createRange();
  range.selectNodeContents(node);
  return range.getBoundingClientRect();
}

/** The cursor over an element, where it says that something can be done there. */
export function pointer(element: Element): string {
  const kind = kindOf(element);
  if (kind.cursor === undefined) {
    const { cursor } = styleOf(element);
    kind.cursor = isPointing(cursor) ? cursor : isPointedOnHover(element) ? 'pointer' : '';
  }
  return kind.cursor;
}

/** The part of the window in which an element can be seen: what scrolls around it cuts it off. */
export function clip(element: Element): DOMRect {
  let around: Element | undefined = element;
  while (around !== undefined && !isScroller(around)) around = holder(around);
  if (around === undefined || isPage(around)) return new DOMRect(0, 0, innerWidth, innerHeight);
  const box = around.getBoundingClientRect();
  const top = Math.max(box.top, 0);
  const left = Math.max(box.left, 0);
  const width = Math.min(box.right, innerWidth) - left;
  return new DOMRect(left, top, width, Math.min(box.bottom, innerHeight) - top);
}

/** Whether some of it is in a part of the window. */
export function overlaps(element: Element, frame: DOMRect): boolean {
  const box = element.getBoundingClientRect();
  return box.bottom > frame.top && box.top < frame.bottom && box.right > frame.left && box.left < frame.right;
}
