// The events of a pointer, in the order in which a browser sends them.
import { turn } from '../pausing.ts';
import { stillAgreedUnderPointer } from './agreed.ts';
import { pressed, receiver, released } from './capture.ts';
import { closeLight } from './closing.ts';
import {
  attribute,
  documentFor,
  editableOf,
  elementAt,
  eventsSent,
  fits,
  focusedIn,
  isConnected,
  isHtml,
  nearest,
  send,
  upwards,
  windowOf,
  within,
} from './dom.ts';
import { moveHovered } from './hovering.ts';
import type { Spot } from './target.ts';

export type Modifier = 'Alt' | 'Control' | 'Meta' | 'Shift';
export type Button = 'left' | 'middle' | 'right';

const numbers: Record<Button, number> = { left: 0, middle: 1, right: 2 };
const bits: Record<Button, number> = { left: 1, middle: 4, right: 2 };

export function flags(modifiers: readonly Modifier[]) {
  const has = (one: Modifier) => modifiers.includes(one);
  return { altKey: has('Alt'), ctrlKey: has('Control'), metaKey: has('Meta'), shiftKey: has('Shift') };
}

type Where = Pick<Spot, 'x' | 'y'>;

interface More {
  button?: Button | undefined; // that changes
  held?: Button | undefined; // that is down
  count?: number;
  modifiers?: readonly Modifier[];
  related?: Element | null | undefined;
}

const quiet = ['mouseenter', 'mouseleave', 'pointerenter', 'pointerleave']; // neither bubble nor can be cancelled

const ofCaptor = ['pointermove', 'pointerup', 'mousemove', 'mouseup']; // what an element with the pointer gets

/** Sends one event of the pointer; false when the page prevented what a browser does then. */
export function sendMouse(type: string, on: Element, { x, y }: Where, more: More = {}): boolean {
  if (type === 'pointerdown') pressed(on);
  const at = ofCaptor.includes(type) ? receiver(on) : on;
  const view = windowOf(at);
  const isPointer = type.startsWith('pointer');
  const silent = quiet.includes(type);
  const clicks = type === 'click' || type === 'auxclick' || type === 'contextmenu';
  const init: PointerEventInit = {
    bubbles: !silent,
    cancelable: !silent,
    composed: !silent,
    view,
    detail: isPointer ? 0 : (more.count ?? 0),
    clientX: x,
    clientY: y,
    screenX: x + view.screenX,
    screenY: y + view.screenY,
    button: more.button === undefined ? (isPointer && !clicks ? -1 : 0) : numbers[more.button],
    buttons: more.held === undefined ? 0 : bits[more.held],
    relatedTarget: more.related ?? null,
    ...flags(more.modifiers ?? []),
  };
  const pointer = { pointerId: 1, pointerType: 'mouse', isPrimary: true, width: 1, height: 1 };
  const event =
    isPointer || clicks
      ? new view.PointerEvent(type, {
          ...init,
          ...pointer,
          pressure: isPointer && more.held !== undefined ? 0.5 : 0,
        })
      : new view.MouseEvent(type, init);
  const allowed = send(at, event);
  if (type === 'pointercancel' || type === 'mouseup') released();
  if (allowed && type === 'click' && (more.modifiers ?? []).length === 0) runLink(at);
  return allowed;
}

const answersClicks = 'a[href],area[href],button,input,label,select,textarea,summary';

const linkEvent = 'tabrelay:link'; // that extension/src/page/links.ts listens for

// A javascript: link is followed in the page's own world: Chrome refuses that to an extension's.
function runLink(at: Element): void {
  const link = Array.from(upwards(at)).find((one) => fits(one, answersClicks));
  if (link === undefined || !isConnected(link) || editableOf(link) !== undefined) return;
  if (!/^(?:_self)?$/i.test(attribute(link, 'target') ?? '')) return;
  const address = attribute(link, 'href') ?? '';
  if (!URL.canParse(address)) return;
  const { protocol, href } = new URL(address);
  if (protocol === 'javascript:') document.dispatchEvent(new MessageEvent(linkEvent, { data: href }));
}

/** Where our pointer is in this document, if anywhere. */
let over: Element | undefined;

/** Moves the pointer to an element: it leaves the last one first. */
export function moveTo(to: Element, where: Where, modifiers: readonly Modifier[] = [], held?: Button): void {
  const more = { modifiers, held };
  const from =
    over !== undefined && isConnected(over) && documentFor(over) === documentFor(to) ? over : undefined;
  if (from !== to) {
    const left = from === undefined ? [] : Array.from(upwards(from)).filter((one) => !within(to, one));
    const entered = Array.from(upwards(to)).filter((one) => from === undefined || !within(from, one));
    for (const kind of ['pointer', 'mouse']) {
      if (from !== undefined) {
        sendMouse(`${kind}out`, from, where, { ...more, related: to });
        for (const one of left) sendMouse(`${kind}leave`, one, where, { ...more, related: to });
      }
      sendMouse(`${kind}over`, to, where, { ...more, related: from });
      for (const one of entered.reverse()) sendMouse(`${kind}enter`, one, where, { ...more, related: from });
    }
  }
  over = to;
  moveHovered(to);
  sendMouse('pointermove', to, where, more);
  sendMouse('mousemove', to, where, more);
}

const focusable =
  'a[href],area[href],button:not(:disabled),input:not(:disabled),select:not(:disabled),textarea:not(:disabled),' +
  'summary,iframe,audio[controls],video[controls],[tabindex],[contenteditable]:not([contenteditable=false])';

/** Gives an element the focus in its document, and sends the events that a window without focus leaves out. */
export function focusOn(element: HTMLElement | SVGElement): void {
  const owner = documentFor(element);
  const view = windowOf(element);
  const before = focusedIn(owner);
  if (before === element) return;
  let told = false;
  const hear = () => {
    told = true;
  };
  view.addEventListener('focus', hear, true);
  element.focus({ preventScroll: true });
  view.removeEventListener('focus', hear, true);
  const now = focusedIn(owner);
  if (told || now === before || now === null) return;
  const tell = (type: string, at: Element, related: Element | null) =>
    send(
      at,
      new view.FocusEvent(type, {
        bubbles: type.startsWith('focusi') || type === 'focusout',
        composed: true,
        relatedTarget: related,
        view,
      }),
    );
  if (before !== null && before !== owner.body) {
    tell('blur', before, now);
    tell('focusout', before, now);
  }
  if (now !== owner.body) {
    tell('focus', now, before);
    tell('focusin', now, before);
  }
}

/** Takes the focus from an element. */
function blur(element: HTMLElement): void {
  const view = windowOf(element);
  const owner = documentFor(element);
  if (focusedIn(owner) !== element) return;
  let told = false;
  const hear = () => {
    told = true;
  };
  view.addEventListener('blur', hear, true);
  element.blur();
  view.removeEventListener('blur', hear, true);
  if (told) return;
  send(element, new view.FocusEvent('blur', { composed: true, view }));
  send(element, new view.FocusEvent('focusout', { bubbles: true, composed: true, view }));
}

// Where a person presses the button in an editor, there is the caret.
function putCaret(host: Element, { x, y }: Where): void {
  const owner = documentFor(host);
  const range = owner.caretRangeFromPoint(x, y);
  const node = range?.startContainer;
  const selection = owner.getSelection();
  if (range === null || node === undefined || selection === null || !host.contains(node)) return;
  selection.collapse(node, range.startOffset);
}

function focusFrom(hit: Element, where: Where): void {
  for (const at of upwards(hit)) {
    const view = windowOf(at);
    if (!(at instanceof view.HTMLElement || at instanceof view.SVGElement)) continue;
    const host = isHtml(at) && at.isContentEditable ? editableOf(at) : undefined;
    if (host !== undefined) {
      focusOn(host);
      putCaret(host, where);
      return;
    }
    if (fits(at, isHtml(at) ? focusable : '[tabindex],a[href]')) {
      focusOn(at);
      return;
    }
  }
  const { body } = documentFor(hit);
  const focused = focusedIn(documentFor(hit));
  if (focused !== null && focused !== body && isHtml(focused)) blur(focused);
}

export interface Pressing {
  button: Button;
  count: number;
  modifiers: readonly Modifier[];
  again?: true; // it was pressed before by the same act, and says since what that chose
}

/** What became of a click. */
export interface Clicked {
  sent: number; // clicks that the element got
  replaced: boolean; // the page took the element away while it was pressed, or as the pointer came over it
  unpressed?: true; // that was before it was pressed
  atOnce?: true; // that was what it did when it was pressed
  opened?: true; // the menu under it opened as soon as the pointer was over it: a click would close that again
}

// The item of a menu under the pointer whose own menu is closed; one that is a link leads elsewhere.
function closedItem(hit: Element): Element | null {
  const item = nearest(hit, '[role^=menuitem]');
  const link = nearest(hit, 'a[href]');
  return item?.getAttribute('aria-expanded') === 'false' && link === null ? item : null;
}

// A page can draw anew what is in an element when the pointer comes over it, or at the first of two clicks.
function drawnAnew(hit: Element, { target, x, y }: Spot): Element {
  if (isConnected(hit) || !isConnected(target)) return hit;
  const now = elementAt(documentFor(target), x, y);
  return now !== null && within(now, target) ? now : target;
}

/**
 * Presses and releases a button over a spot, as often as asked. What a page puts off until the end of an event, it does
 * before the next one, as with those of a person.
 */
export async function pressAndRelease(
  spot: Spot,
  { button, count, modifiers, again }: Pressing,
): Promise<Clicked> {
  const { target } = spot;
  let { hit } = spot;
  const item = button === 'left' ? closedItem(hit) : null;
  const before = eventsSent();
  moveTo(hit, spot, modifiers);
  await turn();
  if (item?.getAttribute('aria-expanded') === 'true') return { sent: 0, replaced: false, opened: true };
  let sent = 0;
  for (let n = 1; n <= count; n++) {
    if (n > 1) await turn();
    hit = drawnAnew(hit, spot);
    if (!isConnected(hit)) return { sent, replaced: true, ...(n === 1 && { unpressed: true }) };
    if (n === 1 && again !== true) stillAgreedUnderPointer(target, before);
    const more = { button, modifiers, count: n };
    const compatible = sendMouse('pointerdown', hit, spot, { ...more, held: button });
    const mayFocus = !compatible || sendMouse('mousedown', hit, spot, { ...more, held: button });
    // A page that keeps the focus where it is says so by preventing mousedown.
    if (mayFocus && isConnected(hit)) focusFrom(hit, spot);
    if (button === 'right' && isConnected(hit)) sendMouse('contextmenu', hit, spot, more);
    await Promise.resolve(); // what belongs to these events
    const atOnce = !isConnected(hit);
    await turn();
    const still = isConnected(hit);
    const end = still ? hit : documentFor(target).documentElement;
    sendMouse('pointerup', end, spot, more);
    if (compatible) sendMouse('mouseup', end, spot, more);
    released();
    await Promise.resolve(); // the click is of the same task
    if (still) closeLight(hit);
    if (!isConnected(hit)) return { sent, replaced: true, ...(atOnce && { atOnce }) };
    sendMouse(button === 'left' ? 'click' : 'auxclick', hit, spot, more);
    sent++;
    if (n === 2 && button === 'left' && isConnected(hit)) sendMouse('dblclick', hit, spot, more);
  }
  return { sent, replaced: false };
}
