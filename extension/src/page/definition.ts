// An adapter as its bundle hands it over (definePlugin's result, or an instance of a class), read once when it
// registers.
import { isRecord, isText } from '../shared/guards.ts';
import { isArray, MapCtor, mapGet, mapSet } from '../shared/primordials.ts';
import { type Callable, type Hooks, isCallable, readHooks } from './hooks.ts';
import { type Lent, PluginScope } from './scope.ts';
import { readSignIn, type SignIn } from './sign-in.ts';
import { UncaughtErrors } from './uncaught.ts';

export type { Callable };

export interface Tool {
  handle: Callable;
  self: object; // `this` of handle
  signIn: SignIn | undefined; // what has to hold before it runs
  waits?: boolean; // for that, and for the plugin to be ready, nearly as long as the call lasts
}

export interface Adapter {
  tool(name: string): Tool | undefined;
  isReady: Callable | undefined;
  self: object; // `this` of isReady and of the hooks
  hooks: Hooks;
  scope: PluginScope;
  uncaught: UncaughtErrors;
}

/** What every adapter answers to besides its tools: a name that none of them can have. */
const signInCheck = 'signIn';

/**
 * Reads what a plugin's bundle exports; undefined when it is not a plugin. enter is how the bundle's copy of the SDK
 * takes what is lent to it; a bundle without the SDK has none. uncaught has to hear what it throws outside of its
 * handlers.
 */
export function readAdapter(
  definition: unknown,
  enter?: unknown,
  lent: Lent = {},
  uncaught = new UncaughtErrors(() => {}),
): Adapter | undefined {
  if (!isRecord(definition) || !isArray(definition.tools)) return undefined;
  const signIn = readSignIn(definition.signIn);
  const tools = new MapCtor<string, Tool>();
  for (let i = 0; i < definition.tools.length; i++) {
    const tool: unknown = definition.tools[i];
    if (!isRecord(tool) || !isText(tool.name) || !isCallable(tool.handle)) return undefined;
    mapSet(tools, tool.name, {
      handle: tool.handle,
      self: tool,
      signIn: tool.signIn === false ? undefined : signIn,
    });
  }
  mapSet(tools, signInCheck, { handle: () => signIn !== undefined, self: definition, signIn, waits: true });
  return {
    tool: (name) => mapGet(tools, name),
    isReady: isCallable(definition.isReady) ? definition.isReady : undefined,
    self: definition,
    hooks: readHooks(definition),
    scope: new PluginScope(isCallable(enter) ? enter : undefined, lent),
    uncaught,
  };
}
