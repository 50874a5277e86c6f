// An adapter as its bundle hands it over (definePlugin's result), read once when it registers.
import { isRecord, isText } from './guards.ts';
import { isArray, MapCtor, mapGet, mapSet } from './primordials.ts';

export type Callable = (...args: never) => unknown;

export interface Tool {
  handle: Callable;
  self: object; // `this` of handle
}

export interface Adapter {
  tool(name: string): Tool | undefined;
  isReady: Callable | undefined;
  self: object; // `this` of isReady and of the hooks
}

function isCallable(value: unknown): value is Callable {
  return typeof value === 'function';
}

/** Reads what a plugin's bundle exports; undefined when it is not a plugin. */
export function readAdapter(definition: unknown): Adapter | undefined {
  if (!isRecord(definition) || !isArray(definition.tools)) return undefined;
  const tools = new MapCtor<string, Tool>();
  for (let i = 0; i < definition.tools.length; i++) {
    const tool: unknown = definition.tools[i];
    if (!isRecord(tool) || !isText(tool.name) || !isCallable(tool.handle)) return undefined;
    mapSet(tools, tool.name, { handle: tool.handle, self: tool });
  }
  return {
    tool: (name) => mapGet(tools, name),
    isReady: isCallable(definition.isReady) ? definition.isReady : undefined,
    self: definition,
  };
}
