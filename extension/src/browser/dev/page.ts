// The way from this world into the page's own: a port that the script there (main/start.ts) hands over.
import { ToolError } from '@tabrelay/plugin-sdk';

const offered = 'tabrelay:dev';
const wanted = 'tabrelay:dev-wanted';
const connectMs = 1500;
const syncMs = 1000;

/** One message of the console. */
interface Said {
  level: string;
  text: string;
  at: number;
  where?: string;
}

/** One body of an answer. */
interface Body {
  url: string;
  method: string;
  status: number;
  at: number;
  text: string;
  cut: boolean;
}

const mostMessages = 1000;
const mostCharacters = 400_000;
const mostBodies = 200;
const mostOfBodies = 5_000_000; // characters of all bodies

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

function isSaid(value: unknown): value is Said {
  return (
    isRecord(value) &&
    typeof value.level === 'string' &&
    typeof value.text === 'string' &&
    typeof value.at === 'number' &&
    (value.where === undefined || typeof value.where === 'string')
  );
}

function isBody(value: unknown): value is Body {
  return (
    isRecord(value) &&
    typeof value.url === 'string' &&
    typeof value.method === 'string' &&
    typeof value.status === 'number' &&
    typeof value.at === 'number' &&
    typeof value.text === 'string' &&
    typeof value.cut === 'boolean'
  );
}

/** What is kept of one kind: the newest, up to a number and a size. */
class Kept<T> {
  all: T[] = [];
  dropped = 0;
  #size = 0;
  readonly #most: number;
  readonly #mostSize: number;
  readonly #sizeOf: (one: T) => number;

  constructor(most: number, mostSize: number, sizeOf: (one: T) => number) {
    this.#most = most;
    this.#mostSize = mostSize;
    this.#sizeOf = sizeOf;
  }

  add(one: T): void {
    this.all.push(one);
    this.#size += this.#sizeOf(one);
    while (this.all.length > this.#most || (this.#size > this.#mostSize && this.all.length > 1)) {
      const oldest = this.all.shift();
      if (oldest !== undefined) this.#size -= this.#sizeOf(oldest);
      this.dropped++;
    }
  }

  clear(): void {
    this.all = [];
    this.dropped = 0;
    this.#size = 0;
  }
}

class Page {
  readonly messages = new Kept<Said>(mostMessages, mostCharacters, ({ text }) => text.length);
  readonly bodies = new Kept<Body>(mostBodies, mostOfBodies, ({ text }) => text.length);
  watching = { console: false, bodies: false };
  #port: MessagePort | undefined;
  #last = 0;
  readonly #waiting = new Map<number, (message: Record<string, unknown>) => void>();
  readonly #connected: (() => void)[] = [];

  constructor() {
    document.addEventListener(offered, (event) => {
      const port = event instanceof MessageEvent ? event.ports[0] : undefined;
      if (port === undefined || this.#port !== undefined) return;
      event.preventDefault();
      this.#port = port;
      port.onmessage = ({ data }: MessageEvent<unknown>) => this.#hear(data);
      for (const go of this.#connected.splice(0)) go();
    });
    document.dispatchEvent(new Event(wanted));
  }

  #hear(message: unknown): void {
    if (!isRecord(message)) return;
    if (message.type === 'said' && Array.isArray(message.all)) {
      if (typeof message.dropped === 'number') this.messages.dropped += message.dropped;
      for (const said of message.all) if (isSaid(said)) this.messages.add(said);
    } else if (message.type === 'body' && isBody(message)) this.bodies.add(message);
    else if (typeof message.id === 'number') {
      this.#waiting.get(message.id)?.(message);
      this.#waiting.delete(message.id);
    }
  }

  async #ready(): Promise<MessagePort> {
    if (this.#port === undefined) {
      await Promise.race([
        new Promise<void>((resolve) => this.#connected.push(resolve)),
        new Promise((resolve) => setTimeout(resolve, connectMs)),
      ]);
    }
    if (this.#port !== undefined) return this.#port;
    throw new ToolError('The page does not let our script in among its own', 'INJECTION_FAILED', {
      category: 'internal',
      outcome: 'not_executed',
      hint: 'Reload the tab with browser__navigate, and call again.',
    });
  }

  async watch(what: Partial<Page['watching']>): Promise<void> {
    const port = await this.#ready();
    this.watching = { ...this.watching, ...what };
    port.postMessage({ type: 'watch', ...this.watching });
  }

  /** Resolves when what happened before has arrived, or the page is too busy to say so. */
  async sync(): Promise<void> {
    const port = await this.#ready();
    const id = ++this.#last;
    await Promise.race([
      new Promise((resolve) => {
        this.#waiting.set(id, resolve);
        port.postMessage({ type: 'sync', id });
      }),
      new Promise((resolve) => setTimeout(resolve, syncMs)),
    ]);
    this.#waiting.delete(id);
  }

  async evaluate(code: string, limits: Record<string, number>, signal: AbortSignal): Promise<unknown> {
    const port = await this.#ready();
    const id = ++this.#last;
    const { ended } = await new Promise<Record<string, unknown>>((resolve) => {
      this.#waiting.set(id, resolve);
      signal.addEventListener('abort', () => this.#waiting.delete(id));
      const expression = code.replace(/[;\s]+$/, '');
      port.postMessage({ type: 'evaluate', id, expression, statements: code, limits });
    });
    return ended;
  }
}

let page: Page | undefined;

/** The page around this document's script. */
export const thePage = (): Page => (page ??= new Page());
