// The isolated world: tells the worker which tools this document registers, and has the page carry them out. Tools that
// Chromium holds are reached from here, where the page cannot come between; those of a polyfill over a port.
import { isNumber, isRecord, isText, listOf, shape } from '../../../shared/guards.ts';
import { call, list, listen, mostText, mostTools, type Said } from '../context.ts';
import { adapter, isFromPage, portEvent, type ToPage } from '../port.ts';

const spacingMs = 100; // between two looks at tools that keep changing
const listMs = 5000; // for the page's world to answer: a busy page is slow
const lateMs = listMs + 1000; // and for Chromium itself

const isListed = shape({ tools: listOf(isText), dropped: isNumber });
const isNamed = shape({ name: isText });
const isWanted = shape({ name: isText, key: isText, input: isRecord });
const isThrown = shape({ thrown: shape({ name: isText, message: isText, about: isRecord }) });

const native = (): object | undefined => {
  const context: unknown = Reflect.get(document, 'modelContext');
  return isRecord(context) ? context : undefined;
};

/** The page's world, once its script is there. */
class PageWorld {
  #port: MessagePort | undefined;
  #last = 0;
  readonly #waiting = new Map<number, (said: unknown) => void>();
  readonly #changed: () => void;

  constructor(changed: () => void) {
    this.#changed = changed;
    // Only the first: what comes later is not ours, and the first is the page's word as much.
    document.addEventListener(portEvent, (event) => {
      const [port] = event instanceof MessageEvent ? event.ports : [];
      if (port === undefined || this.#port !== undefined) return;
      this.#port = port;
      port.addEventListener('message', ({ data }: MessageEvent<unknown>) => this.#hear(data));
      port.start();
    });
  }

  get there(): boolean {
    return this.#port !== undefined;
  }

  ask(message: ToPage, signal?: AbortSignal): Promise<unknown> {
    const { number } = message;
    return new Promise((resolve) => {
      if (this.#port === undefined) return resolve(undefined);
      this.#waiting.set(number, resolve);
      signal?.addEventListener('abort', () => {
        this.#port?.postMessage({ type: 'abort', number } satisfies ToPage);
        if (this.#waiting.delete(number)) resolve(undefined);
      });
      this.#port.postMessage(message);
    });
  }

  number(): number {
    return ++this.#last;
  }

  #hear(data: unknown): void {
    if (!isFromPage(data)) return;
    if (data.type === 'changed') {
      this.#changed();
      return;
    }
    const resolve = this.#waiting.get(data.number);
    this.#waiting.delete(data.number);
    try {
      resolve?.(JSON.parse(data.text));
    } catch {
      resolve?.(undefined);
    }
  }
}

async function polyfilled(page: PageWorld): Promise<{ texts: Map<string, string>; dropped: number }> {
  const texts = new Map<string, string>();
  if (!page.there) return { texts, dropped: 0 };
  const said = await page.ask({ type: 'list', number: page.number() }, AbortSignal.timeout(listMs));
  if (!isListed(said)) return { texts, dropped: 0 };
  let { dropped } = said; // a page's script can answer in place of ours
  let size = 0;
  for (const text of said.tools) {
    size += text.length;
    const tool: unknown = size > mostText || texts.size >= mostTools ? undefined : JSON.parse(text);
    if (isNamed(tool)) texts.set(tool.name, JSON.stringify(tool));
    else dropped++;
  }
  return { texts, dropped };
}

function offer(tell: (text: string) => void): {
  look(): void;
  run(args: unknown, signal: AbortSignal): Promise<Said>;
} {
  let busy = false;
  let again = false;
  const heard = new WeakSet<object>();
  const look = () => {
    if (busy) {
      again = true;
      return;
    }
    busy = true;
    tellAll()
      .catch(() => {}) // a document that goes away
      .then(() => setTimeout(next, spacingMs));
  };
  const next = () => {
    busy = false;
    if (!again) return;
    again = false;
    look();
  };
  const page = new PageWorld(look);

  async function tellAll(): Promise<void> {
    const context = native();
    if (context !== undefined && !heard.has(context)) {
      heard.add(context);
      listen(context, look);
    }
    const both = Promise.all([
      polyfilled(page).catch(() => ({ texts: new Map<string, string>(), dropped: 0 })),
      context === undefined ? undefined : list(context).catch(() => undefined), // Chromium refuses some documents
    ]);
    const looked = await Promise.race([both, new Promise<undefined>((end) => setTimeout(end, lateMs))]);
    if (looked === undefined) {
      again = true; // a look that never ends would be the last
      return;
    }
    const [theirs, own] = looked;
    const all = new Map([...theirs.texts, ...(own?.texts ?? [])]);
    const tools = Array.from(all.keys())
      .sort()
      .map((name) => all.get(name));
    tell(`{"dropped":${theirs.dropped + (own?.dropped ?? 0)},"tools":[${tools.join(',')}]}`);
  }

  async function run(args: unknown, signal: AbortSignal): Promise<Said> {
    if (!isWanted(args)) return { gone: true };
    const { name, key, input } = args;
    const context = native();
    const said = context === undefined ? { gone: true as const } : await called(context, args, signal);
    if (!('gone' in said) || !page.there) return said;
    const answer = await page.ask({ type: 'call', number: page.number(), name, key, input }, signal);
    return saidBy(answer);
  }

  const called = async (
    context: object,
    wanted: Parameters<typeof call>[1],
    signal: AbortSignal,
  ): Promise<Said> => {
    const has = await list(context).catch(() => undefined);
    return has?.texts.has(wanted.name) ? call(context, wanted, signal) : { gone: true };
  };

  return { look, run };
}

/** What the page's world answered, whatever that was. */
function saidBy(answer: unknown): Said {
  if (isRecord(answer) && answer.gone === true) return { gone: true };
  if (isThrown(answer))
    return { thrown: { ...answer.thrown, ran: Reflect.get(answer.thrown, 'ran') === true } };
  if (isRecord(answer) && 'value' in answer) return { value: answer.value };
  return {
    thrown: { name: '', message: 'The page answered nothing that can be read', ran: false, about: {} },
  };
}

const bridge = globalThis.tabrelayBridge;
if (bridge?.offer !== undefined) {
  let tell: (text: string) => void = () => {};
  const tools = offer((text) => tell(text));
  tell = bridge.offer(tools.look);
  const handle = (args: unknown, { signal }: { signal: AbortSignal }) => tools.run(args, signal);
  bridge.register(adapter, { tools: [{ name: 'call', handle }] });
}
