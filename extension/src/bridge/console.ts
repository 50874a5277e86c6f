// The end of the page's console during a call. A tap in the main world sends entries over a MessagePort, only
// while calls are open and for a moment after, so that a burst of calls opens it once; and as long as somebody reads
// the console as a resource.
import { consoleEvent } from '../page/channel.ts';
import { consoleText } from '../page/serialise.ts';
import type { ConsoleLine } from '../shared/bridge-messages.ts';
import { exactly, isFlag, isNumber, isText, shape } from '../shared/guards.ts';
import type { Heard, Tail } from './calls.ts';

const lingerMs = 5000;
const maxEntries = 500;
const grewMs = 500; // between two messages that there is more
const answerMs = 100; // a page that is busy must not hold up an outcome

const isEntry = shape({ type: exactly('entry'), at: isNumber, text: isText, own: isFlag });
const isPlain = shape({ type: exactly('line'), text: isText });
const isSynced = shape({ type: exactly('synced') });

const utf8 = new TextEncoder();
const utf8Text = new TextDecoder();

// The last bytes of a text, beginning with a whole character.
function lastBytes(text: string, bytes: number): string {
  const encoded = utf8.encode(text);
  if (encoded.length <= bytes) return text;
  let start = encoded.length - bytes;
  while (start < encoded.length && ((encoded[start] ?? 0) & 0xc0) === 0x80) start++;
  return utf8Text.decode(encoded.subarray(start));
}

/** What was captured for a reader since a moment (Unix milliseconds; 0: the console cannot be seen). */
interface Held {
  since: number;
  lines: ConsoleLine[];
  dropped: number; // older lines that are no longer kept
}

interface Watch extends Tail {
  expectLate(): void;
  hold(ms: number): Promise<Held>;
}

const unixTime = (at: number) => Math.round(performance.timeOrigin + at);

export function watchConsole(bridgeLate: boolean, grew: () => void): Watch {
  let port: MessagePort | undefined;
  let open = false;
  let calls = 0;
  let endedAt = 0;
  let closing = false; // a timer runs
  let expecting = !bridgeLate;
  let heldFrom: number | undefined;
  let heldUntil = 0;
  let dropped = 0; // since heldFrom
  let toldAt = Number.NEGATIVE_INFINITY;
  let telling = false; // a timer runs
  const entries: { at: number; text: string }[] = [];
  const waiting: (() => void)[] = [];
  const listeners = new Set<Heard>(); // of calls whose tool takes lines for progress

  // Plugins of the isolated world have a console of their own, which the tap in the main world does not see.
  const say = console.error;
  for (const [name, kind] of [
    ['error', 'error: '],
    ['warn', 'warning: '],
    ['log', ''],
    ['info', ''],
  ] as const) {
    const original = console[name];
    console[name] = (...values: unknown[]) => {
      if (kind === '') pass(values);
      else if (open) keep({ at: performance.now(), text: consoleText(values, kind) });
      original.apply(console, values);
    };
  }

  function pass(values: readonly unknown[]): void {
    if (listeners.size === 0) return;
    const text = consoleText(values);
    for (const heard of listeners) heard(text, false);
  }

  function keep({ own = false, ...entry }: { at: number; text: string; own?: boolean }): void {
    for (const heard of listeners) heard(entry.text, own);
    entries.push(entry);
    if (entries.length > maxEntries) {
      entries.shift();
      dropped++;
    }
    if (heldFrom !== undefined) tellGrowth();
  }

  document.addEventListener(consoleEvent, (event) => {
    const offered = event instanceof MessageEvent ? event.ports[0] : undefined;
    if (offered === undefined || !expecting || port !== undefined) return;
    event.preventDefault();
    expecting = false;
    port = offered;
    offered.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (isPlain(data)) for (const heard of listeners) heard(data.text, false);
      else if (isEntry(data)) keep({ at: data.at, text: data.text, own: data.own });
      else if (isSynced(data)) {
        for (const done of waiting.splice(0)) done();
      }
    };
  });

  function tellGrowth(): void {
    if (telling) return;
    const wait = toldAt + grewMs - performance.now();
    telling = true;
    setTimeout(
      () => {
        telling = false;
        toldAt = performance.now();
        grew();
      },
      Math.max(wait, 0),
    );
  }

  // Resolves when everything the page wrote before has arrived.
  const synced = (): Promise<void> =>
    new Promise((resolve) => {
      waiting.push(resolve);
      setTimeout(resolve, answerMs);
      port?.postMessage('sync');
    });

  function close(): void {
    closing = false;
    if (calls > 0) return;
    const left = Math.max(endedAt + lingerMs, heldUntil) - performance.now();
    if (left > 0) {
      closing = true;
      setTimeout(close, left);
      return;
    }
    open = false;
    heldFrom = undefined;
    entries.length = 0;
    port?.postMessage('close');
  }

  function ready(): Promise<void> | undefined {
    if (open) return undefined;
    open = true;
    if (port === undefined) return undefined; // of the page itself nothing can be seen
    port.postMessage('open');
    return synced();
  }

  function closeLater(): void {
    if (closing) return;
    closing = true;
    setTimeout(close, lingerMs);
  }

  return {
    ready,
    begin() {
      calls++;
      return performance.now();
    },
    async since(mark, bytes) {
      if (port !== undefined) await synced();
      const lines = entries.filter((entry) => entry.at >= mark).map((entry) => entry.text);
      return lastBytes(lines.join('\n'), bytes);
    },
    end() {
      calls--;
      endedAt = performance.now();
      closeLater();
    },
    async hold(ms) {
      if (port === undefined) return { since: 0, lines: [], dropped: 0 };
      await (ready() ?? synced());
      if (heldFrom === undefined) {
        heldFrom = performance.now();
        dropped = 0;
      }
      heldUntil = performance.now() + ms;
      closeLater();
      const from = heldFrom;
      const lines = entries
        .filter(({ at }) => at >= from)
        .map(({ at, text }) => ({ at: unixTime(at), text }));
      return { since: unixTime(from), lines, dropped };
    },
    say: (text) => say.call(console, text),
    listen(heard) {
      listeners.add(heard);
      port?.postMessage('openLines');
      return () => {
        listeners.delete(heard);
        if (listeners.size === 0) port?.postMessage('closeLines');
      };
    },
    heard: () => (port === undefined ? Promise.resolve() : synced()),
    expectLate: () => {
      expecting = port === undefined;
    },
  };
}

const maxErrors = 5; // of one act
const maxErrorLength = 200;
const errorBytes = 8192;

/** Watches for errors that the page writes from now on; what it returns ends that, and says which there were. */
export function watchErrors(tail: Tail): () => Promise<string[]> {
  const from = tail.begin();
  return async () => {
    const written = await tail.since(from, errorBytes);
    tail.end();
    const errors = written
      .split('\n')
      .filter((line) => /^(?:error|uncaught|unhandled rejection)\b/.test(line));
    return errors.slice(0, maxErrors).map((line) => line.slice(0, maxErrorLength));
  };
}
