// The element that captured the pointer of an act while it is down: as with a real one, it gets all that the pointer
// does then, wherever that is. The page's functions for it ask here (extension/src/page/captures.ts).
import { documentFor, isConnected, isElement, send, windowOf } from './dom.ts';

// Said by extension/src/page/captures.ts.
const captureEvent = 'tabrelay:capture';
const captureAnswerEvent = 'tabrelay:captured';

let captor: Element | undefined;
let isTold = false; // to the element, that it has the pointer
let dropped: Element | undefined; // which is still to be told that it let go of the pointer
let roots: EventTarget[] = []; // in which the pointer went down

/** The element that has captured the pointer. */
export const captured = (): Element | undefined =>
  captor !== undefined && isConnected(captor) ? captor : undefined;

/** The pointer goes down on an element: whatever is around it may capture it from now on. */
export function pressed(hit: Element): void {
  released();
  const { ShadowRoot: Shadow } = windowOf(hit);
  for (let root = hit.getRootNode(); ; root = root.host.getRootNode()) {
    roots.push(root);
    if (!(root instanceof Shadow)) break;
  }
  for (const root of roots) root.addEventListener(captureEvent, answer);
}

/** What is sent to another element goes to the one that captured the pointer. */
export function receiver(at: Element): Element {
  const to = captured();
  if (to === undefined) return at;
  if (!isTold) tell(to, 'gotpointercapture');
  isTold = true;
  return to;
}

/** The pointer is up again, and belongs to nothing. */
export function released(): void {
  for (const root of roots) root.removeEventListener(captureEvent, answer);
  roots = [];
  const last = isTold ? captured() : dropped;
  captor = undefined;
  dropped = undefined;
  isTold = false;
  if (last !== undefined && isConnected(last)) tell(last, 'lostpointercapture');
}

function answer(event: Event): void {
  const { target } = event;
  if (!('data' in event) || !isElement(target)) return;
  event.stopImmediatePropagation(); // of an element in a shadow root, the listener there hears first
  if (event.data === 'setPointerCapture') {
    captor = target;
    isTold = false;
  } else if (captor !== target) return;
  else if (event.data === 'releasePointerCapture') {
    if (isTold) dropped = captor;
    captor = undefined;
    isTold = false;
  }
  documentFor(target).dispatchEvent(new MessageEvent(captureAnswerEvent, { data: 'yes' }));
}

function tell(element: Element, type: string): void {
  const { PointerEvent: Event } = windowOf(element);
  const init = { bubbles: true, composed: true, pointerId: 1, pointerType: 'mouse', isPrimary: true };
  send(element, new Event(type, init));
}
