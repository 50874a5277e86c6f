// The page's world: tools that a polyfill holds can be reached from here only. Put into a document once an agent has
// looked at it, and only where something offers tools. It sees no more than any script of the page.
import { isRecord } from '../../../shared/guards.ts';
import { type Context, call, list, listen } from '../context.ts';
import { type FromPage, isToPage, portEvent } from '../port.ts';

const lateMs = [1000, 5000]; // a polyfill can come after the page

const isNative = (context: object): boolean =>
  typeof ModelContext === 'function' &&
  context instanceof ModelContext &&
  String(ModelContext).includes('[native code]');

/** What holds the page's tools, unless Chromium does: that is asked where the page cannot interfere. */
function found(): Context | undefined {
  const places: readonly (readonly [object, string])[] = [
    [document, 'modelContext'],
    [navigator, 'modelContext'],
    [navigator, 'modelContextTesting'],
  ];
  for (const [place, name] of places) {
    const context: unknown = Reflect.get(place, name);
    if (isRecord(context) && !isNative(context)) return context;
  }
  return undefined;
}

function open(): void {
  const { port1: port, port2 } = new MessageChannel();
  const post = (message: FromPage) => port.postMessage(message);
  const open = new Map<number, AbortController>();
  const known = new WeakSet<Context>();
  const context = (): Context | undefined => {
    const now = found();
    if (now !== undefined && !known.has(now)) {
      known.add(now);
      listen(now, () => post({ type: 'changed' }));
    }
    return now;
  };

  const told = async (now: Context | undefined) => {
    if (now === undefined) return { tools: [], dropped: 0 };
    const { texts, dropped } = await list(now);
    return { tools: Array.from(texts.values()), dropped };
  };

  const answer = (number: number, work: Promise<unknown>) => {
    const failed = (): unknown => ({ failed: true });
    work.catch(failed).then((said) => {
      open.delete(number);
      let text = '';
      try {
        text = JSON.stringify(said) ?? 'null';
      } catch {
        text =
          '{"thrown":{"name":"","message":"What the tool returned has no JSON form","ran":true,"about":{}}}';
      }
      post({ type: 'answer', number, text });
    });
  };

  port.addEventListener('message', ({ data }: MessageEvent<unknown>) => {
    if (!isToPage(data)) return;
    const { number } = data;
    if (data.type === 'abort') return open.get(number)?.abort();
    const now = context();
    if (data.type !== 'call') return answer(number, told(now));
    const controller = new AbortController();
    open.set(number, controller);
    answer(number, now === undefined ? Promise.resolve({ gone: true }) : call(now, data, controller.signal));
  });
  port.start();
  document.dispatchEvent(new MessageEvent(portEvent, { ports: [port2] }));
  const look = () => {
    if (context() !== undefined) post({ type: 'changed' });
  };
  look();
  addEventListener('load', look, { once: true });
  for (const ms of lateMs) setTimeout(look, ms);
}

declare const ModelContext: unknown;

open();
