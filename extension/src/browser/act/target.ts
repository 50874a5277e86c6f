// Waits until an element can be acted on: displayed, enabled, still, and not covered by another.

import { clip, isCutOff, isKeyTaker } from '../drawn.ts';
import { isSubmitter } from '../forms.ts';
import { atOnce } from '../moment.ts';
import { hintFor, isGone } from '../references.ts';
import { isThing, isThingIn } from '../things.ts';
import { cut, named } from '../words.ts';
import {
  attribute,
  boxesOf,
  boxOf,
  documentFor,
  elementAt,
  fits,
  isBoxless,
  isConnected,
  isHtml,
  isInput,
  isSelect,
  isTextArea,
  isTextField,
  nearest,
  parentOf,
  pictureOf,
  plain,
  roleOf,
  shadowOf,
  tagOf,
  upwards,
  windowOf,
  within,
} from './dom.ts';
import { NotDone } from './failure.ts';
import { pointAround } from './frames.ts';
import type { Page } from './page.ts';
import { boxesOfWords } from './words.ts';

/** Where an act meets the page: the element that is hit, and the point in its document's view. */
export interface Spot {
  target: Element; // what the reference names
  hit: Element; // the innermost element of it at the point
  x: number;
  y: number;
}

export interface Wants {
  uncovered: boolean; // a pointer has to reach it
  enabled: boolean;
  words?: string | undefined; // of the target, on which it has to be met
  place?: Place | undefined; // in the target, where it has to be met as it lies there
}

/** A place in an element, from the upper left corner of its box. */
export interface Place {
  x: number;
  y: number;
}

const readyMs = 3000;
const againMs = 16;
const seldomMs = 100; // a page that is drawn once a second is not looked at
const frameMs = 500; // for a page to be drawn: a frame out of sight is not

const interactive =
  'a[href],button,input,select,textarea,summary,[role=button],[role=link],[role=checkbox],[role=switch],' +
  '[role=menuitem],[role=tab],[role=option],[onclick],[contenteditable]';

/** The element a reference names; throws what became of it when it names nothing any more. */
export function resolved(page: Page, ref: string): Element {
  const found = page.resolve(ref);
  if (!isGone(found)) return found;
  const { code, message, successor } = found;
  throw new NotDone(code === 'UNKNOWN_REF' ? 'VALIDATION_ERROR' : code, message, {
    hint: hintFor(found),
    ...(successor !== undefined && { data: { successor } }),
  });
}

function isDisplayed(element: Element): boolean {
  const asDrawn = { visibilityProperty: true };
  const { checkVisibility } = Element.prototype;
  const shown = tagOf(element) === 'area' ? (pictureOf(element) ?? element) : element;
  if (checkVisibility.call(shown, asDrawn)) return true;
  const around = isBoxless(element) ? parentOf(element) : null;
  return around !== null && isDisplayed(around);
}

/** Why an element takes no input at present. */
function whyDisabled(element: Element): string | undefined {
  if (fits(element, ':disabled')) return 'is disabled';
  for (const at of upwards(element)) {
    if (attribute(at, 'aria-disabled') === 'true') return 'is disabled (aria-disabled)';
    if (attribute(at, 'inert') !== null) return 'is inert: the page does not let anyone use it at present';
  }
  return undefined;
}

const listItems = '[role=option],[role^=menuitem],[role=treeitem],[role=gridcell],td';

/** What would have to be done first, where waiting alone enables nothing: known of items of a list, and of forms. */
function whatWaitingCannotMend(page: Page, element: Element): string | undefined {
  if (fits(element, listItems)) return 'Choose another one: lists and calendars rule out some of their items';
  if (!isSubmitter(element)) return undefined;
  const form = nearest(element, 'form');
  if (!(form instanceof windowOf(element).HTMLFormElement) || form.noValidate) return undefined;
  const missing = Array.from(form.elements).find(
    (one) => fits(one, ':invalid:not(fieldset)') && isDisplayed(one),
  );
  return missing && `Fill ${page.describe(missing)} first: the form is not valid without it`;
}

/** What stands for a control on the page: its label, where the control itself cannot be seen. */
function labelsOf(element: Element): Element[] {
  const labels: unknown = Reflect.get(element, 'labels');
  const listed = labels instanceof windowOf(element).NodeList ? Array.from(labels) : [];
  const around = nearest(element, 'label');
  const all = listed.filter((one): one is Element => one instanceof windowOf(element).Element);
  if (around !== null && !all.includes(around) && fits(element, 'input,button,select,textarea'))
    all.push(around);
  return all;
}

function pointsIn(box: DOMRect, view: Window): [number, number][] {
  const left = Math.max(box.left, 0);
  const top = Math.max(box.top, 0);
  const width = Math.min(box.right, view.innerWidth) - left;
  const height = Math.min(box.bottom, view.innerHeight) - top;
  if (width <= 0 || height <= 0) return [];
  const parts = [0.5, 0.25, 0.75, 0.1, 0.9];
  return parts.flatMap((y) => parts.map((x): [number, number] => [left + width * x, top + height * y]));
}

// What a click at the hit element would mean rather than the target: the innermost thing of its own in between.
function otherAt(hit: Element, target: Element): Element | undefined {
  for (const at of upwards(hit)) {
    if (at === target) return undefined;
    if (fits(at, interactive) || isThingIn(target, at)) return at;
  }
  return undefined;
}

const meansAnother = (hit: Element, target: Element): boolean => otherAt(hit, target) !== undefined;

const items = '[role^=menuitem],[role=tab],[role=option],[role=treeitem]';

// Whether a point is of the one link or button that an item is all about, which fills it; items in it are others.
function isOnlyPart(hit: Element, item: Element): boolean {
  if (!fits(item, items)) return false;
  const own = Array.from(item.querySelectorAll(interactive)).filter(
    (one) => isDisplayed(one) && !fits(one, items) && nearest(one, items) === item,
  );
  return own.length === 1 && own[0] !== undefined && within(hit, own[0]);
}

const edge = 4; // pixels that the box around a field may be larger, for its border

// Some boxes keep the field that takes their keys behind themselves, and some components draw a label or themselves in
// place of a control that the pointer goes through: a person who presses there meets the box.
function isBehindItsBox(control: Element, hit: Element): boolean {
  if (!within(control, hit)) return false;
  const { opacity, zIndex, pointerEvents } = windowOf(control).getComputedStyle(control);
  if (opacity !== '0' && Number(zIndex) >= 0 && pointerEvents !== 'none') return false;
  if (labelsOf(control).some((label) => within(hit, label))) return true;
  // A component that is all about this one control, and no part of a page that only stands in one.
  const inside = shadowOf(hit)?.querySelectorAll(interactive);
  if (inside?.length === 1 && inside[0] === control) return true;
  const [a, b] = [boxOf(control), boxOf(hit)];
  const isLarge = Math.abs(a.width - b.width) <= 2 * edge && Math.abs(a.height - b.height) <= 2 * edge;
  return isTextField(control) && isLarge;
}

const mostAround = 5; // elements
const tabStops = `${interactive},[tabindex]`;
const used = `${tabStops},[onmousedown],[onpointerdown],label,tr,[role]:not([role=presentation],[role=none])`;

// Some boxes show what is chosen, or a picture, in place of their control, which only takes the keys: a person presses
// the box, in which nothing else takes the focus. What lies over the control must be a part of it, too.
function reachAround(target: Element, covering: Element | undefined): Spot | undefined {
  const touched = isTouched(covering) ? covering : undefined;
  if (!isUnseen(target) && touched === undefined) return undefined;
  const owner = documentFor(target);
  const hits = (box: DOMRect) =>
    pointsIn(box, windowOf(target)).map(([x, y]) => ({ target, hit: elementAt(owner, x, y), x, y }));
  const over = isCutOff(target) ? [] : hits(boxOf(target));
  for (const area of Array.from(upwards(target)).slice(1, 1 + mostAround)) {
    const isOther = (one: Element) => !within(one, target) && isHtml(one) && one.tabIndex >= 0;
    if (area === owner.body || Array.from(area.querySelectorAll(tabStops)).some(isOther)) return undefined;
    const isIn = (hit: Element | null): hit is Element => hit !== null && within(hit, area);
    if (!over.every(({ hit }) => isIn(hit))) continue;
    for (const { hit, ...spot } of hits(boxOf(area)))
      if (isIn(hit) && (hit === touched || !meansAnother(hit, area))) return { ...spot, hit };
  }
  return undefined;
}

// Whether it is a box without anything in it over which the pointer is a hand: it makes a small control easier to meet.
const isTouched = (covering: Element | undefined): boolean =>
  covering !== undefined &&
  covering.childElementCount === 0 &&
  plain(covering.textContent ?? '') === '' &&
  windowOf(covering).getComputedStyle(covering).cursor === 'pointer';

// Whether nothing of a control is drawn, or the pointer goes through it.
function isUnseen(target: Element): boolean {
  if (!isInput(target) && !isTextArea(target) && !isSelect(target)) return false;
  const { checkVisibility } = Element.prototype;
  if (!checkVisibility.call(target, { opacityProperty: true })) return true;
  const { width, height } = boxOf(target);
  return (
    width < 3 ||
    height < 3 ||
    isCutOff(target) ||
    (letsPointerThrough(target) && !letsPointerThrough(parentOf(target))) // where all around does, it is not to be used
  );
}

const letsPointerThrough = (element: Element | null): boolean =>
  element !== null && windowOf(element).getComputedStyle(element).pointerEvents === 'none';

// What the pointer goes through is drawn over the box that gets it: words over that, a canvas or the words of a drawing
// also over what is drawn beside them in it.
function letsThrough(target: Element, hit: Element): boolean {
  const box = parentOf(target);
  if (box === null || box === documentFor(target).body || !letsPointerThrough(target)) return false;
  if (!/^(?:canvas|text|tspan)$/.test(tagOf(target))) return hit === box;
  return within(hit, box) && !meansAnother(hit, box);
}

// Of a line that is drawn straight across or down, its stroke does not count.
function thick({ x, y, width, height }: DOMRect): DOMRect {
  if (width > 0 === height > 0) return new DOMRect(x, y, width, height);
  return new DOMRect(width > 0 ? x : x - 0.5, height > 0 ? y : y - 0.5, width || 1, height || 1);
}

// A press on a label is one on its control.
const isOwnLabel = (hit: Element, control: Element): boolean =>
  labelsOf(control).some((label) => within(hit, label) && !meansAnother(hit, label));

type Reach = { spot: Spot } | { covering: Element | undefined };

const reach = (target: Element, over: Element, { words, place }: Pick<Wants, 'words' | 'place'>): Reach =>
  atOnce(() => {
    const box = boxOf(over);
    if (place !== undefined) return meet(target, over, [[box.left + place.x, box.top + place.y]]);
    return meet(target, over, words === undefined ? placesOf(over) : placesOfWords(over, words));
  });

/** The part of the window in which a pointer meets an element as it lies; undefined: it is covered or out of sight. */
export function whereMet(target: Element): DOMRect | undefined {
  const over = isConnected(target) ? standIn(target) : undefined;
  if (over === undefined) return undefined;
  const direct = reach(target, over, {});
  const spot = 'spot' in direct ? direct.spot : reachAround(target, direct.covering);
  if (spot === undefined || coveredOutside(spot) !== undefined) return undefined;
  const holds = ({ left, top, right, bottom }: DOMRect) =>
    left <= spot.x && spot.x <= right && top <= spot.y && spot.y <= bottom;
  const { x, y, right, bottom } = boxesOf(over).find(holds) ?? boxOf(over);
  const seen = clip(over);
  const [left, top] = [Math.max(x, seen.left), Math.max(y, seen.top)];
  return new DOMRect(left, top, Math.min(right, seen.right) - left, Math.min(bottom, seen.bottom) - top);
}

function meet(target: Element, over: Element, places: Iterable<readonly [x: number, y: number]>): Reach {
  const owner = documentFor(target);
  let covering: Element | undefined;
  let inner: Spot | undefined;
  let part: Spot | undefined;
  const isOwn = ownPlaces(over);
  for (const [x, y] of places) {
    const hit = elementAt(owner, x, y);
    if (hit === null) continue;
    if (!within(hit, over)) {
      if (isBehindItsBox(over, hit) || letsThrough(over, hit) || isOwnLabel(hit, target))
        inner ??= { target, hit, x, y };
      else covering ??= hit;
      continue;
    }
    const other = otherAt(hit, over);
    const spot = { target, hit: over === target ? hit : over, x, y };
    if (other === undefined && isOwn(hit)) return { spot };
    if (other === undefined) part ??= spot;
    else if (isOnlyPart(hit, over)) inner ??= { target, hit, x, y };
    else if (isUsedItself(over)) inner ??= { target, hit: target, x, y };
    else covering ??= other;
  }
  const spot = part ?? inner;
  return spot === undefined ? { covering } : { spot };
}

const holdsParts = 'tr,li,[role=row],[role=listitem]';

// Whether a place is one of a thing itself. What stands in a row, or in a box that can be clicked, may have a meaning
// that nobody can see from here: there, places beside it are better.
function ownPlaces(element: Element): (hit: Element) => boolean {
  const isBox = !fits(element, interactive) && !isRoled(element);
  if (element.childElementCount < 1 || !(isBox || fits(element, holdsParts))) return () => true;
  return (hit) => hit === element || (fits(hit, 'td,th') && hit.parentElement === element);
}

const isRoled = (element: Element): boolean => roleOf(element) !== '' || tagOf(element).includes('-');

// Whether it is there to be used whatever stands in it; the words of a text, and a box under a hand, are not.
const isUsedItself = (element: Element): boolean => fits(element, used);

// Where a person could press an element: in the boxes that it is drawn as, and on words of its own.
function* placesOf(element: Element): Generator<readonly [x: number, y: number]> {
  const view = windowOf(element);
  const boxes = boxesOf(element)
    .map((box) => (element instanceof view.SVGElement ? thick(box) : box))
    .filter(({ width, height }) => width > 0 && height > 0);
  if (!isThing(element)) yield* placesOfTexts(element);
  for (const box of boxes.length > 0 ? boxes : [boxOf(element)]) yield* pointsIn(box, view);
  yield* placesOfTexts(element);
}

function* placesOfWords(element: Element, words: string): Generator<readonly [x: number, y: number]> {
  for (const box of boxesOfWords(element, words)) yield* pointsIn(box, windowOf(element));
}

const mostTexts = 20;

function* placesOfTexts(element: Element): Generator<readonly [x: number, y: number]> {
  const texts = Array.from(element.childNodes).filter(
    (node) => node instanceof windowOf(element).Text && plain(node.data) !== '',
  );
  for (const text of texts.slice(0, mostTexts)) {
    const range = documentFor(element).createRange();
    range.selectNodeContents(text);
    for (const box of range.getClientRects()) yield* pointsIn(box, windowOf(element)).slice(0, 1);
  }
}

// The frames of the same origin around a document: a point of it may be covered by what is in front of its frame.
function coveredOutside({ target, x, y }: Spot): Element | undefined {
  let view: Window = windowOf(target);
  let point = { x, y };
  for (;;) {
    const frame = frameOf(view);
    const outside = frame === undefined ? undefined : pointAround(frame, point);
    if (frame === undefined || outside === undefined) return undefined;
    point = outside;
    const hit = elementAt(documentFor(frame), point.x, point.y);
    if (hit !== null && !within(frame, hit) && !within(hit, frame)) return hit;
    view = windowOf(frame);
  }
}

function frameOf(view: Window): Element | undefined {
  try {
    return view.frameElement ?? undefined;
  } catch {
    return undefined; // of another origin
  }
}

const blocks: ScrollLogicalPosition[] = ['center', 'end', 'start'];

interface Seen {
  target: Element;
  box: DOMRect;
  movable: Promise<void>;
}

let foreseen: Seen | undefined;

/** Looks where an element is that is to be acted on: what goes on until then counts as time that it stood still. */
export function foresee(page: Page, ref: string): void {
  const target = page.resolve(ref);
  const over = isGone(target) || !isConnected(target) ? undefined : standIn(target);
  foreseen = over && !isGone(target) ? { target, box: boxOf(over), movable: untilItMoves(page) } : undefined;
}

// Where it was then, once it would be elsewhere if it moved.
async function seenBefore(page: Page, ref: string): Promise<DOMRect | undefined> {
  const seen = foreseen;
  foreseen = undefined;
  if (seen === undefined || page.resolve(ref) !== seen.target) return undefined;
  await seen.movable;
  return page.resolve(ref) === seen.target ? seen.box : undefined;
}

// Until what moves has moved: scripts move things by timers or when the page is drawn, which a slow one is seldom, and
// styles as time goes on for the page, which is not always when it is drawn.
async function untilItMoves(page: Page): Promise<void> {
  const { timeline } = document;
  const since = Number(timeline.currentTime);
  const until = performance.now() + frameMs;
  do await Promise.all([page.pause(againMs), drawn(until - performance.now())]);
  while (!undrawn && Number(timeline.currentTime) <= since && performance.now() < until);
}

let undrawn = false; // the last frame that was waited for has not come: out of sight, or of a window that is away

function drawn(ms: number): Promise<void> {
  if (document.visibilityState === 'hidden') return Promise.resolve();
  return new Promise((resolve) => {
    const asked = performance.now();
    requestAnimationFrame(() => {
      undrawn &&= performance.now() - asked > seldomMs;
      clearTimeout(late);
      resolve();
    });
    const late = setTimeout(
      () => {
        undrawn = true;
        resolve();
      },
      undrawn ? againMs : ms,
    );
  });
}

/** Waits until an element is ready, and says where it can be met. Throws why it is not, with nothing done. */
export async function ready(page: Page, ref: string, wants: Wants): Promise<Spot> {
  const until = performance.now() + readyMs;
  let tries = 0;
  let before = wants.uncovered ? await seenBefore(page, ref) : undefined;
  for (;;) {
    const target = resolved(page, ref);
    const look = lookAt(page, target, wants, before);
    if ('spot' in look) return look.spot;
    before = boxOf(look.over ?? target);
    if (look.scroll && wants.place === undefined)
      bringIntoView(look.over ?? target, blocks[tries++ % blocks.length] ?? 'center');
    if (look.final === true || performance.now() > until) throw look.why;
    await untilItMoves(page);
  }
}

// A final one stays so, however long one waits.
type Look = { spot: Spot } | { why: NotDone; scroll: boolean; over?: Element; final?: boolean };

function lookAt(page: Page, target: Element, wants: Wants, before: DOMRect | undefined): Look {
  const named = () => page.describe(target);
  const not = (what: string, hint?: string): NotDone =>
    new NotDone('TARGET_NOT_READY', `${named()} ${what}`, hint === undefined ? {} : { hint });
  const over = isConnected(target) ? standIn(target) : undefined;
  if (over === undefined)
    return { why: not('is not displayed', 'Something has to be opened or scrolled to first'), scroll: false };
  if (wants.enabled) {
    const disabled = whyDisabled(target);
    if (disabled !== undefined) return { ...notEnabled(page, target, disabled, not), scroll: false };
  }
  const box = boxOf(over);
  const [x, y] = [box.left + box.width / 2, box.top + box.height / 2];
  if (!wants.uncovered) return { spot: { target, hit: target, x, y } };
  const moved = before !== undefined && (before.x !== box.x || before.y !== box.y);
  const direct = reach(target, over, wants);
  const isMet = 'spot' in direct || wants.place !== undefined;
  const around = isMet ? undefined : reachAround(target, direct.covering);
  const reached = around === undefined ? direct : { spot: around };
  if (!('spot' in reached)) {
    const { covering } = reached;
    const unseen = wants.place === undefined ? 'cannot be scrolled into view' : 'is not on the screen there';
    if (covering === undefined) return { why: not(unseen), scroll: true, over };
    // What stands in it stays there.
    const final = covering !== over && within(covering, over) && isInView(box, windowOf(over));
    return { why: coveredBy(page, target, covering), scroll: true, over, final };
  }
  if (before === undefined) {
    // What is still has the same place twice.
    return { why: not('was not looked at twice'), scroll: false, over };
  }
  if (moved && !isRestless(over)) return { why: not('does not stop moving'), scroll: false, over };
  const outside = coveredOutside(reached.spot);
  if (outside !== undefined) return { why: coveredBy(page, target, outside), scroll: true, over };
  return reached;
}

const isInView = ({ left, top, right, bottom }: DOMRect, view: Window): boolean =>
  left >= 0 && top >= 0 && right <= view.innerWidth && bottom <= view.innerHeight;

function notEnabled(
  page: Page,
  target: Element,
  disabled: string,
  not: (what: string, hint?: string) => NotDone,
): { why: NotDone; final: boolean } {
  const first = whatWaitingCannotMend(page, target);
  if (first !== undefined) return { why: not(disabled, first), final: true };
  const waited = `${disabled}, and the page did not enable it within ${readyMs / 1000} s`;
  return { why: not(waited, 'The page enables it when something else is done first'), final: false };
}

// What an animation without an end moves never stands still, and can be clicked all the same.
const isRestless = (element: Element): boolean =>
  Array.from(upwards(element)).some((at) =>
    at
      .getAnimations()
      .some(
        ({ playState, effect }) =>
          playState === 'running' && effect?.getComputedTiming().endTime === Number.POSITIVE_INFINITY,
      ),
  );

// What covers a thing is often a mere box: its words help to know it.
function seen(page: Page, covering: Element): string {
  const said = page.describe(covering);
  const words = isHtml(covering) ? plain(covering.innerText) : '';
  return said.includes('"') || words === '' ? said : `${said} ${named(cut(words, 80))}`;
}

/** Why a place cannot be reached that an element covers. */
export function coveredBy(page: Page, target: Element, covering: Element): NotDone {
  const by = seen(page, covering);
  return new NotDone('TARGET_COVERED', `${page.describe(target)} is covered by ${by}`, {
    hint: 'Close or move what covers it first',
    data: { coveredBy: by },
  });
}

// The element itself where it is drawn, or else the label that stands for it.
function standIn(target: Element): Element | undefined {
  const drawn = (element: Element) => {
    const { width, height } = boxOf(element);
    return isDisplayed(element) && (width > 0 || height > 0 || boxesOf(element).some((one) => one.width > 0));
  };
  const control = isInput(target) || isSelect(target) || isTextArea(target);
  const { width, height } = boxOf(target);
  const box = isKeyTaker(target)
    ? Array.from(upwards(target)).find((at) => boxOf(at).width > edge)
    : undefined;
  if (box !== undefined) return box;
  const checks = isInput(target) && /^(?:checkbox|radio)$/.test(target.type) && isUnseen(target);
  if (drawn(target) && !(control && (width < 3 || height < 3 || isClear(target) || checks))) return target;
  const label = control ? labelsOf(target).find(drawn) : undefined;
  if (label !== undefined) return label;
  if (drawn(target)) return target;
  return tagOf(target) === 'area' || tagOf(target) === 'option'
    ? (nearest(target, 'map,select') ?? undefined)
    : undefined;
}

const isClear = (element: Element) => windowOf(element).getComputedStyle(element).opacity === '0';

/** Scrolls an element into view without an animation. */
function bringIntoView(element: Element, block: ScrollLogicalPosition = 'center'): void {
  const from = tagOf(element) === 'area' ? (pictureOf(element) ?? element) : element;
  const drawn = Array.from(upwards(from)).find((at) => !isBoxless(at));
  drawn?.scrollIntoView({ block, inline: 'nearest', behavior: 'instant' });
}
