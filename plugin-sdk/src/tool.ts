import type { Answer, Arguments, InputSchema, OutputSchema } from './schema.ts';
import type { Log } from './scope.ts';
import { rememberSignIn, type SignIn } from './sign-in.ts';

/** What a handler gets besides its arguments. */
export interface ToolContext {
  /** Fires when the agent cancels, the deadline passes or the page goes away. Hand it to everything that waits. */
  readonly signal: AbortSignal;
  /** Tells the agent how far the call is, and keeps a long call from timing out. */
  reportProgress(progress: Progress): void;
  /** Lines that reach the relay's log and the agent, bound to this call. */
  readonly log: Log;
  /** Values of the settings the plugin declares in its configSchema. */
  readonly settings: Readonly<Record<string, unknown>>;
  /**
   * How large the answer's JSON may be, in bytes, to reach the agent whole; the relay shortens a larger one and keeps
   * it. Undefined where the relay does not say. `@tabrelay/plugin-sdk/paging` fits texts and lists into it.
   */
  readonly maxBytes?: number | undefined;
  /** The tab the call runs in. */
  readonly tab: { readonly id: number; readonly url: string };
  /** The document it runs in: the tab's top one, or a frame when the tool asks for `frames: 'all'`. */
  readonly frame: { readonly url: string; readonly top: boolean };
  /** The same for every attempt at this call: send it along where a site can recognise a repeated request. */
  readonly idempotencyKey: string;
}

export interface Progress {
  readonly progress?: number | undefined;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** What an agent, and the relay's retries, may assume of a tool. Without them a tool counts as one that writes. */
export interface Annotations {
  readonly title?: string;
  /** It changes nothing. */
  readonly readOnlyHint?: boolean;
  /** It may delete or overwrite. */
  readonly destructiveHint?: boolean;
  /** Calling it again with the same arguments changes nothing more. */
  readonly idempotentHint?: boolean;
  /** It reaches beyond the site. */
  readonly openWorldHint?: boolean;
}

/** One thing an agent can do on the site. */
export interface ToolDefinition<
  In extends InputSchema = InputSchema,
  Out extends OutputSchema = OutputSchema,
> {
  /** Lower case with underscores; the agent sees `<plugin>__<name>`. */
  readonly name: string;
  /** For people. Default: made from the name. */
  readonly displayName?: string;
  /** For the agent: what it does, when to use it, what to call before. */
  readonly description: string;
  /** JSON Schema, or anything with Standard JSON Schema such as `z.object({ … })`. Default: no arguments. */
  readonly input?: In;
  /** The answer's schema. With it the agent gets the answer as structured content. */
  readonly output?: Out;
  readonly annotations?: Annotations;
  /** How long a call may take without progress. Default: the relay's, 30 s. */
  readonly timeoutMs?: number;
  /** How long a call may take with progress. Default: the relay's, 300 s. */
  readonly maxTimeoutMs?: number;
  /** What to suggest when a call timed out. */
  readonly timeoutHint?: string;
  /** A regular expression: lines the page writes to its console (log, info, warn, error) that match it are progress. */
  readonly progressPattern?: string;
  /**
   * Where to run: in the top document (default), or with `all` in the top document where the plugin's patterns cover
   * it, and else in the first frame they cover. `ctx.frame` says which it is, and the answer names the frame.
   */
  readonly frames?: 'top' | 'all';
  /** The list to shorten when an answer is too large for the agent, such as `.data.items`. Default: the largest. */
  readonly arrayPath?: string;
  /** What to ask for instead when an answer is too large even to keep (10 MiB). */
  readonly narrowHint?: string;
  /** Whether the plugin's `signIn` is required. Default true; false for what works without a session. */
  readonly signIn?: boolean;
  /** Runs in the page. Throw a ToolError when it fails. */
  handle(params: Arguments<In>, ctx: ToolContext): Promise<Answer<Out>> | Answer<Out>;
}

/** A tool whose schemas do not matter any more. */
export interface Tool {
  readonly name: string;
  handle(params: never, ctx: ToolContext): unknown;
}

/** What a plugin can do besides its tools. What a hook throws is logged and ends nothing. */
export interface Hooks {
  /** The plugin has arrived in a document. */
  onActivate?(): void;
  /** Another version takes its place, or the document goes away. */
  onDeactivate?(): void;
  /** After onDeactivate: remove what would outlive the plugin in the document. */
  teardown?(): void;
  /** The document changed its address without being loaded anew. */
  onNavigate?(url: string): void;
  onToolInvocationStart?(tool: string): void;
  onToolInvocationEnd?(tool: string, success: boolean, durationMs: number): void;
}

/** What a plugin's `src/index.ts` exports by default. */
export interface PluginDefinition extends Hooks {
  readonly tools: readonly Tool[];
  /** Whether the page is one the tools can work with. Asked before each call, for up to 2 s; default: always. */
  isReady?(): boolean | Promise<boolean>;
  /** How to know that a person is signed in: then tools run only when one is. Without it each finds out for itself. */
  readonly signIn?: SignIn;
  /** What a person can set: the same as `configSchema` in package.json. */
  readonly settings?: Settings;
}

/** Describes one tool; the types of its handler come from its schemas. */
export function defineTool<
  const In extends InputSchema = { readonly type: 'object' },
  const Out extends OutputSchema = { readonly [keyword: string]: unknown },
>(tool: ToolDefinition<In, Out>): ToolDefinition<In, Out> {
  return tool;
}

/** Describes a plugin. Export what it returns as the default of `src/index.ts`. */
export function definePlugin(plugin: PluginDefinition): PluginDefinition {
  rememberSignIn(plugin.signIn);
  return plugin;
}

/** One thing a person can set for a plugin: `tabrelay plugin configure NAME KEY=VALUE`. */
export interface Setting {
  /**
   * `url`: the address of an installation; its pages become the plugin's. Several by name are several instances, and
   * a handler sees the one its tab belongs to. `select`: one of `options`.
   */
  readonly type: 'url' | 'string' | 'number' | 'boolean' | 'select';
  /** For people. */
  readonly label?: string;
  readonly description?: string;
  readonly placeholder?: string;
  /** Without it the plugin is listed with a problem. Default false. */
  readonly required?: boolean;
  /** What it is when the person set nothing. */
  readonly default?: string | number | boolean;
  readonly options?: readonly string[];
  /** It never goes into a page that ran scripts before the plugin came. Default: true for a string. */
  readonly secret?: boolean;
}

/** What a person can set, by key. */
export type Settings = Readonly<Record<string, Setting>>;
