// The pointer without a click: hovering, dragging, scrolling, selecting text.
import { overlaps, visible } from '../drawn.ts';
import { turn } from '../pausing.ts';
import { sensitivity } from '../secrets.ts';
import { stillAgreed } from './agreed.ts';
import { captured, released } from './capture.ts';
import {
  boxOf,
  documentFor,
  editableOf,
  elementAt,
  fits,
  isConnected,
  isTextField,
  nearest,
  parentOf,
  send,
  tagOf,
  upwards,
  windowOf,
  within,
} from './dom.ts';
import { NotDone } from './failure.ts';
import { eventually, fieldOf } from './fields.ts';
import { showHovered } from './hovering.ts';
import { focusOn, moveTo, sendMouse } from './mouse.ts';
import type { Page } from './page.ts';
import { refuseUsedAgain } from './refusing.ts';
import { coveredBy, type Place, ready, resolved, type Spot } from './target.ts';

export type At = 'before' | 'after' | 'center' | { x: number; y: number };

const transitionMs = 400; // for what is shown to be shown

/** Moves the pointer over an element and leaves it there. */
export async function hover(page: Page, ref: string, place: Place | undefined): Promise<object> {
  const spot = await ready(page, ref, { uncovered: true, enabled: false, place });
  stillAgreed(spot.target);
  moveTo(spot.hit, spot);
  const whole = showHovered(spot.hit);
  const owner = documentFor(spot.hit);
  const { CSSTransition } = windowOf(spot.hit);
  const isUnderWay = (one: Animation) => one instanceof CSSTransition && one.playState === 'running';
  await eventually(page, transitionMs, () => !owner.getAnimations().some(isUnderWay));
  return whole
    ? {}
    : { note: 'Styles that come from another site cannot be read: what they show on hover is not shown' };
}

const steps = 6;

/** Drags an element to another one, or by an offset. */
export async function drag(
  page: Page,
  ref: string,
  { to, at, place }: { to: string | undefined; at: At | undefined; place: Place | undefined },
): Promise<object> {
  const offset = typeof at === 'object' ? at : undefined;
  if (to === undefined && offset === undefined)
    throw new NotDone(
      'VALIDATION_ERROR',
      'drag needs to, the reference of an element, or at {x, y}, an offset',
    );
  if (to !== undefined) await ready(page, to, { uncovered: false, enabled: false });
  const start = await ready(page, ref, { uncovered: true, enabled: true, place });
  for (const one of [start.target, ...(to === undefined ? [] : [resolved(page, to)])]) {
    refuseUsedAgain(one);
    stillAgreed(one);
  }
  const end = endOf(page, start, to, at);
  if (end.over !== undefined) refuseElsewhere(page, start, { ...end, over: end.over }, offset);
  const held = 'left' as const;
  moveTo(start.hit, start);
  await turn();
  const mouse = sendMouse('pointerdown', start.hit, start, { button: 'left', held });
  const native = mouse && sendMouse('mousedown', start.hit, start, { button: 'left', held, count: 1 });
  const dragged = draggableOf(start.hit); // some pages make it so only when it is pressed
  if (native && dragged !== undefined && isConnected(dragged)) return dropNative(page, dragged, start, end);
  return dragByPointer(page, start, end, mouse);
}

interface Goal extends Place {
  over: Element | undefined; // that was named as the goal
}

function endOf(page: Page, start: Spot, to: string | undefined, at: At | undefined): Goal {
  const offset = typeof at === 'object' ? at : undefined;
  if (to === undefined)
    return { x: start.x + (offset?.x ?? 0), y: start.y + (offset?.y ?? 0), over: undefined };
  const goal = resolved(page, to);
  const box = boxOf(goal);
  const [width, height] = [box.width, box.height];
  if (offset !== undefined) return { x: box.left + offset.x, y: box.top + offset.y, over: goal };
  if (at !== 'before' && at !== 'after')
    return { x: box.left + width / 2, y: box.top + height / 2, over: goal };
  // Lists go down, rows of cards go to the right.
  const item = itemFor(start, goal);
  const { left, top, width: wide, height: high } = boxOf(item);
  const inRow = sideBySide(item);
  const part = at === 'before' ? 0.15 : 0.85;
  return { x: left + wide * (inRow ? part : 0.5), y: top + high * (inRow ? 0.5 : part), over: item };
}

// What is dropped reaches what lies at that place.
function refuseElsewhere(
  page: Page,
  start: Spot,
  { x, y, over }: Goal & { over: Element },
  offset: { x: number; y: number } | undefined,
): void {
  const { left, top, right, bottom } = boxOf(over);
  if (offset !== undefined && (x < left || x > right || y < top || y > bottom))
    throw new NotDone(
      'VALIDATION_ERROR',
      `at: ${offset.x}, ${offset.y} is outside of ${page.describe(over)}`,
      {
        hint: 'at counts from the upper left corner of to; leave to out to drag by an offset',
      },
    );
  const hit = elementAt(documentFor(over), x, y);
  if (hit === null || within(hit, over) || within(over, hit) || within(hit, start.target)) return;
  throw coveredBy(page, over, hit);
}

const items = 'li,tr,[role=option],[role=listitem],[role=row],[role=treeitem],[role=tab],[draggable=true]';

// The item of a list in which a goal stands, by the one that is dragged: the goal may be a text beside a picture in it.
function itemFor(start: Spot, goal: Element): Element {
  const dragged = draggableOf(start.hit) ?? nearest(start.target, items) ?? undefined;
  const outer = new Set(upwards(goal));
  const list = Array.from(upwards(start.target)).find((at) => outer.has(at));
  const below = (inner: Element) => Array.from(upwards(inner)).find((at) => parentOf(at) === list);
  const [from, to] = [below(start.target), below(goal)];
  if (dragged === undefined || dragged === from) return to !== undefined && isItemLike(from, to) ? to : goal;
  return Array.from(upwards(goal)).find((at) => at !== list && isItemLike(dragged, at)) ?? goal;
}

const isItemLike = (one: Element | undefined, other: Element): boolean =>
  one !== undefined && tagOf(one) === tagOf(other) && (fits(other, items) || sharesClass(one, other));

const sharesClass = (one: Element, other: Element): boolean =>
  (one.classList.length === 0 && other.classList.length === 0) ||
  Array.from(one.classList).some((name) => other.classList.contains(name));

function sideBySide(item: Element): boolean {
  const others = Array.from(parentOf(item)?.children ?? []).filter(
    (one) => one !== item && boxOf(one).width > 0,
  );
  const other = others.find((one) => isItemLike(item, one)) ?? others[0];
  if (other === undefined) return false;
  const [a, b] = [boxOf(item), boxOf(other)];
  return Math.abs(a.top - b.top) < Math.min(a.height, b.height) / 2;
}

function draggableOf(hit: Element): HTMLElement | undefined {
  for (const at of upwards(hit)) {
    const view = windowOf(at);
    if (at instanceof view.HTMLElement && at.draggable) return at;
  }
  return undefined;
}

// What lies at a point on the way, the dragged element aside where the page lets pointers through it.
function under(owner: Document, x: number, y: number): Element {
  return elementAt(owner, x, y) ?? owner.documentElement;
}

function* way(from: { x: number; y: number }, to: Goal): Generator<{ x: number; y: number }> {
  for (let n = 1; n <= steps; n++)
    yield { x: from.x + ((to.x - from.x) * n) / steps, y: from.y + ((to.y - from.y) * n) / steps };
  yield { x: to.x, y: to.y }; // pages often act on the second move in one place
}

// What a page lays over the goal, or puts in its place, once the drag has begun. Lists make room for what is dragged:
// then another one of their items is there.
function cameBetween(start: Spot, { x, y, over }: Goal): Element | undefined {
  if (over === undefined || !isConnected(over)) return undefined;
  const hit = elementAt(documentFor(over), x, y);
  if (hit === null || within(hit, over) || within(over, hit) || within(hit, start.target)) return undefined;
  const { left, top, right, bottom } = boxOf(over);
  const isThere = x >= left && x <= right && y >= top && y <= bottom;
  const list = parentOf(over);
  return !isThere && list !== null && within(hit, list) ? undefined : hit;
}

const notDropped = (page: Page, covering: Element): object => ({
  note: `${page.describe(covering)} came over the goal during the drag; nothing was dropped`,
});

async function dragByPointer(page: Page, start: Spot, end: Goal, mouse: boolean): Promise<object> {
  const { hit } = start;
  const owner = documentFor(hit);
  const held = 'left' as const;
  for (const point of way(start, end)) {
    const at = captured() ?? under(owner, point.x, point.y);
    if (mouse) moveTo(at, point, [], held);
    else sendMouse('pointermove', at, point, { held });
    await page.pause(16);
  }
  const between = captured() === undefined ? cameBetween(start, end) : undefined;
  if (between !== undefined) {
    const back = isConnected(hit) ? hit : under(owner, start.x, start.y);
    if (mouse) moveTo(back, start, [], held);
    sendMouse('pointerup', back, start, { button: 'left' });
    if (mouse) sendMouse('mouseup', back, start, { button: 'left', count: 1 });
    released();
    return notDropped(page, between);
  }
  const last = captured() ?? under(owner, end.x, end.y);
  sendMouse('pointerup', last, end, { button: 'left' });
  if (mouse) sendMouse('mouseup', last, end, { button: 'left', count: 1 });
  released();
  return {};
}

async function dropNative(page: Page, dragged: HTMLElement, start: Spot, end: Goal): Promise<object> {
  const owner = documentFor(dragged);
  const view = windowOf(dragged);
  const dataTransfer = new view.DataTransfer();
  const fire = (type: string, at: Element, point: { x: number; y: number }, related?: Element) =>
    send(
      at,
      new view.DragEvent(type, {
        bubbles: true,
        cancelable: type !== 'dragend' && type !== 'dragleave',
        composed: true,
        view,
        dataTransfer,
        clientX: point.x,
        clientY: point.y,
        screenX: point.x + view.screenX,
        screenY: point.y + view.screenY,
        buttons: type === 'drop' || type === 'dragend' ? 0 : 1,
        relatedTarget: related ?? null,
      }),
    );
  if (!fire('dragstart', dragged, start)) return dragByPointer(page, start, end, true);
  sendMouse('pointercancel', start.hit, start);
  let over: Element | undefined;
  let accepted = false;
  for (const point of way(start, end)) {
    if (isConnected(dragged)) fire('drag', dragged, point);
    const at = under(owner, point.x, point.y);
    if (at !== over) {
      fire('dragenter', at, point, over);
      if (over !== undefined && isConnected(over)) fire('dragleave', over, point, at);
      over = at;
    }
    accepted = !fire('dragover', at, point);
    await page.pause(16);
  }
  const last = over ?? owner.documentElement;
  const between = cameBetween(start, end);
  if (between !== undefined) {
    fire('dragleave', last, end);
    if (isConnected(dragged)) fire('dragend', dragged, end);
    return notDropped(page, between);
  }
  if (accepted) fire('drop', last, end);
  else fire('dragleave', last, end);
  if (isConnected(dragged)) fire('dragend', dragged, end);
  if (accepted) return {};
  return { note: 'The page takes no drop there; nothing was dropped' };
}

const isInView = (element: Element): boolean => overlaps(element, new DOMRect(0, 0, innerWidth, innerHeight));

/** Scrolls an element, or the page: by an offset, to the start or the end, or until another element is in view. */
export async function scroll(
  page: Page,
  ref: string | undefined,
  { to, at, place }: { to: string | undefined; at: unknown; place: Place | undefined },
): Promise<object> {
  if (to !== undefined && to !== 'start' && to !== 'end') {
    const goal = resolved(page, to);
    if (!visible(goal))
      throw new NotDone('TARGET_NOT_READY', `${page.describe(goal)} is not displayed: nothing leads to it`);
    goal.scrollIntoView({ block: 'center', inline: 'nearest', behavior: 'instant' });
    return { note: `${page.describe(goal)} is ${isInView(goal) ? '' : 'still not '}in view` };
  }
  const given = ref === undefined ? undefined : resolved(page, ref);
  const box = scrollerOf(given);
  const before = [box.scrollLeft, box.scrollTop];
  const offset = isOffset(at) ? at : { x: 0, y: box.clientHeight * 0.9 };
  if (to === 'start') box.scrollTo({ top: 0, behavior: 'instant' });
  else if (to === 'end') box.scrollTo({ top: box.scrollHeight, behavior: 'instant' });
  else {
    const { view, target } = { view: windowOf(box), target: given ?? box };
    const wants = { uncovered: true, enabled: false, place };
    const spot = ref === undefined || place === undefined ? undefined : await ready(page, ref, wants);
    const wheel = {
      ...(spot !== undefined && { clientX: spot.x, clientY: spot.y }),
      deltaX: offset.x,
      deltaY: offset.y,
      bubbles: true,
      cancelable: true,
      composed: true,
      view,
    };
    if (send(target, new view.WheelEvent('wheel', wheel)))
      box.scrollBy({ left: offset.x, top: offset.y, behavior: 'instant' });
  }
  const moved = box.scrollLeft !== before[0] || box.scrollTop !== before[1];
  if (moved) await tellScrolled(page, box);
  await page.pause(0);
  const left = Math.max(0, Math.round(box.scrollHeight - box.clientHeight - box.scrollTop));
  return {
    position: { top: Math.round(box.scrollTop), left: Math.round(box.scrollLeft), below: left },
    ...(!moved && { note: left === 0 ? 'It is at its end already' : 'It did not move' }),
  };
}

// A page that is hidden is not drawn, and gets its scroll events only when it is: without them a list that holds only
// what is in view would stay as it is.
async function tellScrolled(page: Page, box: Element): Promise<void> {
  const owner = documentFor(box);
  const whole = box === owner.scrollingElement;
  const target = whole ? owner : box;
  let heard = false;
  const hear = () => {
    heard = true;
  };
  target.addEventListener('scroll', hear, { capture: true, once: true });
  for (let looks = 0; looks < 5 && !heard; looks++) await page.pause(10);
  if (!heard) send(target, new (windowOf(box).Event)('scroll', { bubbles: whole }));
}

const isOffset = (value: unknown): value is { x: number; y: number } =>
  typeof value === 'object' && value !== null && 'x' in value && 'y' in value;

function scrollerOf(element: Element | undefined): Element {
  const owner = element === undefined ? document : documentFor(element);
  if (element !== undefined)
    for (const at of upwards(element)) {
      const { overflowX, overflowY } = windowOf(at).getComputedStyle(at);
      const goes = (kind: string) => /auto|scroll|overlay|hidden/.test(kind);
      if (at.scrollHeight > at.clientHeight + 1 && goes(overflowY) && at !== owner.body) return at;
      if (at.scrollWidth > at.clientWidth + 1 && goes(overflowX) && at !== owner.body) return at;
    }
  const whole = owner.scrollingElement ?? owner.documentElement;
  if (element !== undefined || whole.scrollHeight > whole.clientHeight) return whole;
  // A page whose document does not scroll has one part that does: the largest.
  let found: Element | undefined;
  let size = 0;
  for (const at of owner.querySelectorAll('body *')) {
    if (
      at.scrollHeight <= at.clientHeight + 1 ||
      !/auto|scroll/.test(windowOf(at).getComputedStyle(at).overflowY)
    )
      continue;
    const area = at.clientWidth * at.clientHeight;
    if (area > size) [found, size] = [at, area];
  }
  return found ?? whole;
}

/** Selects the text of an element, a part of it, or everything up to another element. */
export async function select(page: Page, ref: string, to: string | undefined, at: unknown): Promise<object> {
  const first = resolved(page, ref);
  const part = typeof at === 'object' && at !== null && 'start' in at && 'end' in at ? at : undefined;
  const text =
    typeof at === 'string' && at !== 'before' && at !== 'after' && at !== 'center' ? at : undefined;
  if (isTextField(first)) {
    focusOn(first);
    const from = text === undefined ? Number(part?.start ?? 0) : first.value.indexOf(text);
    if (from < 0) throw new NotDone('VALIDATION_ERROR', `${page.describe(first)} does not hold that text`);
    first.setSelectionRange(
      from,
      text === undefined ? Number(part?.end ?? first.value.length) : from + text.length,
    );
    const words = first.value.slice(first.selectionStart ?? 0, first.selectionEnd ?? 0);
    return { selected: sensitivity(first) === undefined ? words : '•••' };
  }
  const last = to === undefined ? first : resolved(page, to);
  const owner = documentFor(first);
  const range = owner.createRange();
  if (text === undefined && part === undefined) {
    range.setStartBefore(first.firstChild ?? first);
    range.setEndAfter(last.lastChild ?? last);
  } else if (!cutOut(range, first, text ?? part)) {
    throw new NotDone('VALIDATION_ERROR', `${page.describe(first)} does not hold that text`);
  }
  const editor = editableOf(first);
  if (editor !== undefined) focusOn(editor);
  const selection = owner.getSelection();
  selection?.removeAllRanges();
  selection?.addRange(range);
  sendMouse('mouseup', last, { x: boxOf(last).right, y: boxOf(last).bottom }, { button: 'left', count: 1 });
  const isSecret = [first, last].some((one) => sensitivity(fieldOf(one)) !== undefined);
  return { selected: isSecret ? '•••' : (selection?.toString() ?? '').slice(0, 500) };
}

// A part of an element's text, by its words or by the numbers of its first and last characters.
function cutOut(range: Range, element: Element, part: string | object | undefined): boolean {
  const owner = documentFor(element);
  const nodes: Text[] = [];
  const walker = owner.createTreeWalker(element, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode())
    if (node instanceof windowOf(node).Text) nodes.push(node);
  const whole = nodes.map((node) => node.data).join('');
  const start = typeof part === 'string' ? whole.indexOf(part) : Number(Reflect.get(part ?? {}, 'start'));
  const end = typeof part === 'string' ? start + part.length : Number(Reflect.get(part ?? {}, 'end'));
  if (!(start >= 0) || !(end >= start) || end > whole.length) return false;
  let passed = 0;
  let begun = false;
  for (const node of nodes) {
    const { length } = node.data;
    if (!begun && start <= passed + length) {
      range.setStart(node, start - passed);
      begun = true;
    }
    if (end <= passed + length) {
      range.setEnd(node, end - passed);
      return true;
    }
    passed += length;
  }
  return begun;
}
