// Tells the bridge when a dialog of the page opens, and answers it in the person's place while a call acts in the page.
// Until a person closes a dialog nothing runs in the page, the bridge included, so that this is said before: an event
// reaches the isolated world while it is dispatched, and what the bridge sends then leaves the process. The page keeps
// its own functions: to its scripts these proxies look the same.
import {
  call,
  defineProperty,
  dispatch,
  eventData,
  listen,
  MessageEventCtor,
  ownDescriptor,
  slice,
  stringOf,
  unlisten,
} from '../shared/primordials.ts';

export const dialogEvent = 'tabrelay:dialog';
export const resumeEvent = 'tabrelay:resume';
export const answerEvent = 'tabrelay:answer';

const ProxyCtor = Proxy;
const names = ['alert', 'confirm', 'prompt', 'print'] as const;
const maxText = 1000;

type DialogKind = (typeof names)[number];

function textOf(value: unknown): string {
  try {
    return value === undefined ? '' : slice(stringOf(value), 0, maxText);
  } catch {
    return ''; // the page's own function throws the same
  }
}

export function send(name: string, data: string): void {
  const bare: MessageEventInit & { __proto__: null } = { __proto__: null, data };
  dispatch(document, new MessageEventCtor(name, bare));
}

/** Tells the bridge. What comes back, if anything, is its answer. */
export function ask(event: string, answerEvent: string, data: string): string | undefined {
  let answer: { said: string } | undefined;
  const hear = (event: Event): void => {
    const said = eventData(event);
    if (typeof said === 'string') answer ??= { said };
  };
  listen(document, answerEvent, hear);
  try {
    send(event, data);
  } finally {
    unlisten(document, answerEvent, hear);
  }
  return answer?.said;
}

// What the page's function returns to the page for an answer: 'no', 'yes', or 'yes' and a text.
function returned(name: DialogKind, answer: string): unknown {
  const yes = slice(answer, 0, 3) === 'yes';
  if (name === 'confirm') return yes;
  if (name === 'prompt') return yes ? slice(answer, 4) : null;
  return undefined;
}

/** Puts a proxy in front of a function of the page. */
export function front(
  name: string,
  apply: (target: object, self: unknown, values: readonly unknown[]) => unknown,
): void {
  const before = ownDescriptor(window, name);
  const original: unknown = before?.value;
  if (before?.configurable !== true || typeof original !== 'function') return;
  const bare: ProxyHandler<object> & { __proto__: null } = { __proto__: null, apply };
  defineProperty(window, name, { ...before, value: new ProxyCtor(original, bare) });
}

export const run = (target: object, self: unknown, values: readonly unknown[]): unknown =>
  typeof target === 'function' ? call(target, self, values) : undefined;

/** Puts a proxy in front of each function of the page that opens a dialog. */
export function tapDialogs(): void {
  for (let i = 0; i < names.length; i++) {
    const name = names[i];
    if (name === undefined) continue;
    front(name, (target, self, values) => {
      const preset = name === 'prompt' ? textOf(values[1]) : '';
      // An answer means that the dialog is not to open.
      const answer = ask(dialogEvent, answerEvent, `${name}\0${textOf(values[0])}\0${preset}`);
      if (answer !== undefined) return returned(name, answer);
      try {
        return run(target, self, values);
      } finally {
        dispatch(document, new MessageEventCtor(resumeEvent));
      }
    });
  }
}
