// A page's registry of tools, in the shapes that Chromium and the polyfills have shipped. Runs in both worlds. Nothing
// that comes out of it is trusted: it is turned into JSON text here, with a limit on everything, and read elsewhere.
import { isRecord, isText } from '../../shared/guards.ts';

/** Where a page has its tools: document.modelContext, or what came before it. */
export type Context = object;

/** A tool as it is told. */
interface Told {
  name: string;
  title: string;
  description: string;
  inputSchema?: unknown; // JSON, or JSON as text
  annotations: Record<string, boolean>;
  waits: boolean;
  key: string;
}

/** How a call ended. */
export type Said =
  | { gone: true }
  | { value: unknown }
  | { thrown: { name: string; message: string; ran: boolean; about: Record<string, unknown> } };

export const mostTools = 128;
const mostWords = 4096; // of a description
const mostName = 256;
const mostSchema = 64 << 10;
export const mostText = 512 << 10; // of all tools of a document

const hints = ['readOnlyHint', 'consequentialHint', 'destructiveHint', 'idempotentHint', 'debugging'];

type Method = (...args: unknown[]) => unknown;

function method(of: Context, name: string): Method | undefined {
  const found: unknown = Reflect.get(of, name);
  return typeof found === 'function' ? (...args) => Reflect.apply(found, of, args) : undefined;
}

/** The registered tools of this document, by name, as its context knows them. */
async function toolsOf(context: Context): Promise<Map<string, object>> {
  const all: unknown = await (method(context, 'getTools') ?? method(context, 'listTools') ?? (() => []))();
  const tools = new Map<string, object>();
  if (!Array.isArray(all)) return tools;
  for (const tool of all) {
    if (!isRecord(tool) || !isText(tool.name)) continue;
    if (tool.window !== undefined && tool.window !== window) continue; // of a frame, which tells its own
    if (!tools.has(tool.name)) tools.set(tool.name, tool);
  }
  return tools;
}

// The form by which Chromium itself offers a tool; without toolautosubmit the person submits it.
function waitsForPerson(name: string): boolean {
  const form = document.querySelector(`form[toolname=${CSS.escape(name)}]`);
  return form !== null && !form.hasAttribute('toolautosubmit');
}

function told(tool: object): Told | undefined {
  const { name, title, description, inputSchema, annotations } = Object.fromEntries(
    ['name', 'title', 'description', 'inputSchema', 'annotations'].map((key) => [
      key,
      Reflect.get(tool, key),
    ]),
  );
  if (!isText(name) || name === '' || name.length > mostName) return undefined;
  const words = (value: unknown) => (isText(value) ? value.slice(0, mostWords) : '');
  const schema = JSON.stringify(inputSchema) ?? 'null';
  const about = {
    name,
    title: words(title),
    description: words(description),
    inputSchema: schema.length > mostSchema ? 'too large' : inputSchema,
    annotations: Object.fromEntries(
      hints.flatMap((hint) =>
        isRecord(annotations) && annotations[hint] === true ? [[hint, true] as const] : [],
      ),
    ),
    waits: waitsForPerson(name),
  };
  return { ...about, key: digest(JSON.stringify(about)) };
}

// Two rounds of FNV-1a with different primes: what it tells apart are forms of one tool of one page.
function digest(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x01000193;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    a = Math.imul(a ^ c, 0x01000193);
    b = Math.imul(b ^ c, 0x85ebca6b);
    b ^= b >>> 13;
  }
  return (a >>> 0).toString(16).padStart(8, '0') + (b >>> 0).toString(16).padStart(8, '0');
}

/** The tools of this document as JSON texts, by name. */
export async function list(context: Context): Promise<{ texts: Map<string, string>; dropped: number }> {
  const texts = new Map<string, string>();
  let size = 0;
  let dropped = 0;
  for (const [name, tool] of await toolsOf(context)) {
    const text = attempt(() => JSON.stringify(told(tool)));
    size += text?.length ?? 0;
    if (text === undefined || texts.size >= mostTools || size > mostText) dropped++;
    else texts.set(name, text);
  }
  return { texts, dropped };
}

function attempt<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined; // getters of the page
  }
}

/** Has the page do what one of its tools does, if it still has the tool in the form that key stands for. */
export async function call(
  context: Context,
  wanted: { name: string; key: string; input: Record<string, unknown> },
  signal: AbortSignal,
): Promise<Said> {
  const tool = (await toolsOf(context)).get(wanted.name);
  if (tool === undefined || attempt(() => told(tool)?.key) !== wanted.key) return { gone: true };
  if (signal.aborted) return { gone: true };
  try {
    return { value: plain(await execute(context, tool, wanted, signal)) };
  } catch (why) {
    return { thrown: thrown(why) };
  }
}

// Chromium before 155, and polyfills after it, want the arguments as text. Both are offered: an object that also has a
// text. Where that is refused before anything ran, the text alone.
async function execute(
  context: Context,
  tool: object,
  { name, input }: { name: string; input: Record<string, unknown> },
  signal: AbortSignal,
): Promise<unknown> {
  const text = JSON.stringify(input);
  const both = Object.defineProperty({ ...input }, 'toString', { value: () => text });
  const run = method(context, 'executeTool');
  if (run === undefined) throw new Error('The page has tools, and no way to call them');
  const target = method(context, 'getTools') === undefined ? name : tool;
  try {
    return await run(target, target === name ? text : both, { signal });
  } catch (why) {
    if (!isUnparsed(why) || target === name) throw why;
    return run(target, text, { signal });
  }
}

const isUnparsed = (why: unknown): boolean =>
  why instanceof DOMException && why.message.startsWith('Failed to parse input');

// What a page's function returns comes as JSON text, or as it is.
function plain(value: unknown): unknown {
  if (!isText(value)) return value ?? null;
  if (value === 'undefined') return null;
  const read: unknown = attempt((): unknown => JSON.parse(value)) ?? value;
  const same =
    (typeof read === 'object' && read !== null) || JSON.stringify(read) === value || value === 'null';
  return same && value !== 'null' ? read : value === 'null' ? null : value;
}

// Chromium says that a function failed, and not how.
const untold = 'Tool was executed but the invocation failed';

function thrown(why: unknown): {
  name: string;
  message: string;
  ran: boolean;
  about: Record<string, unknown>;
} {
  const field = (name: string): unknown =>
    typeof why === 'object' && why !== null ? attempt((): unknown => Reflect.get(why, name)) : undefined;
  const text = (value: unknown) => (isText(value) ? value.slice(0, 8192) : '');
  const words = text(field('message')) || (typeof why === 'object' ? '' : text(attempt(() => String(why))));
  const ran = words.startsWith(untold);
  const rest = ran ? words.slice(untold.length).replace(/^[:.]\s*(?:For example, .*)?/, '') : words;
  const about: Record<string, unknown> = {};
  for (const name of ['code', 'category', 'retryable', 'retryAfterMs', 'data']) {
    const value = attempt((): unknown => JSON.parse(JSON.stringify(field(name)) ?? 'null'));
    if (value !== undefined && value !== null) about[name] = value;
  }
  return { name: text(field('name')).slice(0, 100), message: rest, ran, about };
}

/** Calls changed whenever the tools of a context may be others. */
export function listen(context: Context, changed: () => void): void {
  method(context, 'addEventListener')?.('toolchange', changed);
}
