// What a plugin wants to hear besides calls. A hook that throws ends nothing.
import {
  call,
  isEventTarget,
  listen,
  MapCtor,
  mapGet,
  mapHas,
  mapSet,
  property,
  unlisten,
} from '../shared/primordials.ts';

export type Callable = (...args: never) => unknown;

export const isCallable = (value: unknown): value is Callable => typeof value === 'function';

const names = [
  'onActivate',
  'onDeactivate',
  'teardown',
  'onNavigate',
  'onToolInvocationStart',
  'onToolInvocationEnd',
] as const;

export type HookName = (typeof names)[number];

export interface Hooks {
  /** Calls a hook, if the plugin has it; what it threw goes to failed. */
  tell(name: HookName, args: readonly unknown[], failed?: (thrown: unknown) => void): void;
  has(name: HookName): boolean;
}

/** Reads the hooks of a plugin's definition, those of its class included. */
export function readHooks(definition: Record<string, unknown>): Hooks {
  const hooks = new MapCtor<HookName, Callable>();
  for (let i = 0; i < names.length; i++) {
    const name = names[i];
    const hook = name === undefined ? undefined : definition[name];
    if (name !== undefined && isCallable(hook)) mapSet(hooks, name, hook);
  }
  return {
    has: (name) => mapHas(hooks, name),
    tell(name, args, failed) {
      const hook = mapGet(hooks, name);
      if (hook === undefined) return;
      try {
        call(hook, definition, args);
      } catch (thrown) {
        failed?.(thrown);
      }
    },
  };
}

/**
 * Begins a plugin's time in a document: onActivate, then onNavigate for each address. What it returns ends it. The
 * Navigation API tells of a new address without a function of the page being replaced. What a hook throws goes to
 * failed.
 */
export function liveIn(hooks: Hooks, failed: (hook: HookName, thrown: unknown) => void): () => void {
  const tell = (hook: HookName, args: readonly unknown[]) =>
    hooks.tell(hook, args, (thrown) => failed(hook, thrown));
  tell('onActivate', []);
  let address = location.href;
  const moved = () => {
    if (location.href === address) return;
    address = location.href;
    tell('onNavigate', [address]);
  };
  const navigation: unknown = hooks.has('onNavigate') ? property(globalThis, 'navigation') : undefined;
  const watched = isEventTarget(navigation) ? navigation : undefined;
  if (watched !== undefined) listen(watched, 'currententrychange', moved);
  let over = false;
  const leave = () => {
    if (over) return;
    over = true;
    if (watched !== undefined) unlisten(watched, 'currententrychange', moved);
    tell('onDeactivate', []);
    tell('teardown', []);
  };
  if (hooks.has('onDeactivate') || hooks.has('teardown')) {
    listen(globalThis, 'pagehide', (event) => {
      // A document in the back/forward cache comes back as it was.
      if (property(event, 'persisted') !== true) leave();
    });
  }
  return leave;
}
