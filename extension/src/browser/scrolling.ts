// How far one can scroll: content goes on to the right and down, or to the left or up, by direction and writing mode.
// https://www.w3.org/TR/css-overflow-3/#scrollable
import { isPage, known, type Reach, scrolledTo } from './moment.ts';
import { turnOf, zoomOf } from './turned.ts';

/** Whether a box of the window is where nobody can scroll to in the page. */
export function isOutside(box: DOMRect): boolean {
  const page = document.documentElement;
  const about = known(page);
  about.reach ??= reachOf(page, getComputedStyle(document.body ?? page), zoomOf(page));
  const { left, top } = scrolledTo();
  return misses(new DOMRect(box.x + left, box.y + top, box.width, box.height), about.reach);
}

/** The box in which something can be scrolled to in an element that scrolls; undefined where it cannot be. */
export function broughtInto(element: Element, box: DOMRect): DOMRect | undefined {
  if (isPage(element)) return box;
  const { scrollWidth, scrollHeight, clientWidth, clientHeight } = element;
  if (scrollWidth <= clientWidth && scrollHeight <= clientHeight) return box;
  const style = getComputedStyle(element);
  if (style.overflowX === 'visible' || style.display === 'inline') return box;
  const place = placeIn(element, box);
  if (place !== undefined && misses(place, reachOf(element, style))) return undefined;
  return Element.prototype.getBoundingClientRect.call(element);
}

// Where a box of the window is in what an element holds, where nothing is scrolled, however the element is turned.
function placeIn(element: Element, box: DOMRect): DOMRect | undefined {
  const turned = turnOf(element);
  if (turned === undefined || !(element instanceof HTMLElement)) return undefined;
  const frame = Element.prototype.getBoundingClientRect.call(element);
  const middle = new DOMPoint(
    box.left + box.width / 2 - frame.left - frame.width / 2,
    box.top + box.height / 2 - frame.top - frame.height / 2,
  ).matrixTransform(turned.inverse());
  const scale = Math.hypot(turned.a, turned.b) || 1;
  const [width, height] = [box.width / scale, box.height / scale];
  const x = middle.x + element.offsetWidth / 2 - element.clientLeft + element.scrollLeft;
  const y = middle.y + element.offsetHeight / 2 - element.clientTop + element.scrollTop;
  return new DOMRect(x - width / 2, y - height / 2, width, height);
}

const misses = (box: DOMRect, reach: Reach): boolean =>
  box.right <= reach.left || box.bottom <= reach.top || box.left >= reach.right || box.top >= reach.bottom;

function reachOf(element: Element, style: CSSStyleDeclaration, zoom = 1): Reach {
  const { clientWidth, clientHeight, scrollWidth, scrollHeight } = element;
  const [toLeft, upwards] = goesOn(style);
  return {
    left: toLeft ? (clientWidth - scrollWidth) * zoom : 0,
    top: upwards ? (clientHeight - scrollHeight) * zoom : 0,
    right: toLeft ? clientWidth * zoom : Number.POSITIVE_INFINITY,
    bottom: upwards ? clientHeight * zoom : Number.POSITIVE_INFINITY,
  };
}

// Whether content goes on to the left, and upwards.
function goesOn({ writingMode, direction, display, flexDirection }: CSSStyleDeclaration): [boolean, boolean] {
  const isHorizontal = writingMode === 'horizontal-tb';
  let isLineBack = (direction === 'rtl') !== (writingMode === 'sideways-lr');
  let isBlockBack = writingMode.endsWith('-rl');
  if (display.endsWith('flex')) {
    if (flexDirection === 'row-reverse') isLineBack = !isLineBack;
    if (flexDirection === 'column-reverse') isBlockBack = !isBlockBack;
  }
  return isHorizontal ? [isLineBack, isBlockBack] : [isBlockBack, isLineBack];
}
