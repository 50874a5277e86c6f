// Tells the bridge when a dialog of the page opens. Until the person closes it nothing runs in the page, the bridge
// included, so that this is said before: an event reaches the isolated world while it is dispatched, and what the
// bridge sends then leaves the process. The page keeps its own functions: to its scripts these proxies look the same.
import { call, defineProperty, dispatch, MessageEventCtor, ownDescriptor } from './primordials.ts';

export const dialogEvent = 'tabrelay:dialog';
export const resumeEvent = 'tabrelay:resume';

const ProxyCtor = Proxy;
const names = ['alert', 'confirm', 'prompt', 'print'] as const;

function tell(event: typeof dialogEvent | typeof resumeEvent): void {
  dispatch(document, new MessageEventCtor(event));
}

/** Puts a proxy in front of each function of the page that opens a dialog. */
export function tapDialogs(): void {
  for (let i = 0; i < names.length; i++) {
    const name = names[i];
    const before = name === undefined ? undefined : ownDescriptor(window, name);
    const original: unknown = before?.value;
    if (name === undefined || before?.configurable !== true || typeof original !== 'function') continue;
    const apply = (target: object, self: unknown, values: readonly unknown[]): unknown => {
      tell(dialogEvent);
      try {
        return typeof target === 'function' ? call(target, self, values) : undefined;
      } finally {
        tell(resumeEvent);
      }
    };
    const bare: ProxyHandler<object> & { __proto__: null } = { __proto__: null, apply };
    defineProperty(window, name, { ...before, value: new ProxyCtor(original, bare) });
  }
}
