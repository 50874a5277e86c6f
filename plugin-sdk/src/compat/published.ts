// Runs an adapter that the builder of OpenTabs made: dist/adapter.iife.js of a published package. Such a file has a
// copy of that SDK in it, and meets its runtime at `__openTabs`, a member of the page's global there. Here that is an
// object of its own, which the page does not see: the scope of the plugin answers what the file asks of it.

import { isObject } from '../json.ts';
import { currentScope, log, notifyReadinessChanged } from '../scope.ts';
import type { PluginDefinition, Tool, ToolContext } from '../tool.ts';

/** What the file takes for the global. */
interface Page {
  __openTabs: unknown;
}

type Call = (...args: unknown[]) => unknown;
const isCall = (value: unknown): value is Call => typeof value === 'function';

/** A method of an object, which may be missing. */
function method(of: object, name: string): Call | undefined {
  const found: unknown = Reflect.get(of, name);
  return isCall(found) ? (...args) => Reflect.apply(found, of, args) : undefined;
}

/** What the file finds at `__openTabs`. Names of plugins do not matter: there is one. */
function runtime(name: string): Record<string, unknown> {
  const kept = new Proxy({}, { get: (_, key) => currentScope()?.preScript?.get(String(key)) });
  let setTransport: Call | undefined;
  return Object.defineProperties<Record<string, unknown>>(
    { adapters: {}, _pluginName: name },
    {
      pluginConfig: { enumerable: true, get: () => currentScope()?.settings },
      preScript: { enumerable: true, value: new Proxy({}, { get: () => kept }) },
      // Its own way out would be a message that the page reads.
      _notifyReadinessChanged: { enumerable: true, get: () => notifyReadinessChanged, set: () => undefined },
      _setLogTransport: {
        enumerable: true,
        get: () => setTransport && (() => setTransport?.(forward)),
        set: (given: unknown) => {
          setTransport = isCall(given) ? given : undefined;
        },
      },
    },
  );
}

/** Takes a line of the file's log. */
function forward(entry: unknown): void {
  if (!isObject(entry)) return;
  const { level, message, data } = entry;
  const write =
    level === 'warning' ? log.warn : level === 'debug' || level === 'error' ? log[level] : log.info;
  write(String(message), Array.isArray(data) && data.length < 2 ? data[0] : data);
}

/** The plugin that a published adapter registers while `run` runs it. */
export function adopt(name: string, run: (page: Page) => void): PluginDefinition {
  const page: Page = { __openTabs: runtime(name) };
  run(page);
  const adapters = isObject(page.__openTabs) ? page.__openTabs.adapters : undefined;
  const adapter = isObject(adapters) ? Object.values(adapters).find(isObject) : undefined;
  if (adapter === undefined || !Array.isArray(adapter.tools)) {
    throw new Error(`The adapter of ${name} registers no tools`);
  }
  const isReady = method(adapter, 'isReady');
  const teardown = method(adapter, 'teardown'); // which calls onDeactivate; its other hooks the file calls itself
  return {
    tools: adapter.tools.flatMap(toolOf),
    ...(isReady && { isReady: async () => (await isReady()) !== false }),
    ...(teardown && { teardown: () => void teardown() }),
  };
}

/** A tool of the file, which it has frozen. */
function toolOf(given: unknown): Tool[] {
  if (!isObject(given) || typeof given.name !== 'string') return [];
  const handle = method(given, 'handle');
  if (handle === undefined) return [];
  return [{ name: given.name, handle: (params: unknown, ctx: ToolContext) => handle(params, ctx) }];
}
