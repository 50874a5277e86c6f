// Lets a page capture the pointer of an act. Chrome refuses that for a pointer that is not real, by an error that ends
// the page's own function: a slider would do nothing at all. So the bridge is asked first whether the pointer that is
// meant is one of its own, which is down; then it sends to the element that captures it what a browser would.
import {
  defineProperty,
  dispatch,
  eventData,
  isEventTarget,
  listen,
  MessageEventCtor,
  ownDescriptor,
  unlisten,
} from '../shared/primordials.ts';
import { run } from './dialogs.ts';

const captureEvent = 'tabrelay:capture';
const captureAnswerEvent = 'tabrelay:captured';

const ProxyCtor = Proxy;
const pointerId = 1;
const names = ['setPointerCapture', 'releasePointerCapture', 'hasPointerCapture'] as const;

// Whether the bridge says yes; element is where its listeners learn what is meant.
function asks(element: unknown, name: string): boolean {
  if (!isEventTarget(element)) return false;
  let answer = false;
  const hear = (event: Event): void => {
    answer ||= eventData(event) === 'yes';
  };
  const bare = { __proto__: null, data: name, bubbles: true, composed: true };
  listen(document, captureAnswerEvent, hear);
  try {
    dispatch(element, new MessageEventCtor(captureEvent, bare));
  } finally {
    unlisten(document, captureAnswerEvent, hear);
  }
  return answer;
}

/** Puts a proxy in front of the functions by which pages capture a pointer. */
export function tapCaptures(): void {
  for (let i = 0; i < names.length; i++) {
    const name = names[i];
    const before = name && ownDescriptor(Element.prototype, name);
    const original: unknown = before?.value;
    if (name === undefined || before?.configurable !== true || typeof original !== 'function') continue;
    const apply = (target: object, self: unknown, values: readonly unknown[]): unknown => {
      if (values[0] === pointerId && asks(self, name)) return name === 'hasPointerCapture' ? true : undefined;
      return run(target, self, values);
    };
    const bare: ProxyHandler<object> & { __proto__: null } = { __proto__: null, apply };
    defineProperty(Element.prototype, name, { ...before, value: new ProxyCtor(original, bare) });
  }
}
