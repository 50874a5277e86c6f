// Copies what the page's own requests are answered, while the person records the tab: put into the main world of a
// recorded document, and told over a port when the recording is over. Nothing of a request is changed.

import { isRecord } from '../../../shared/guards.ts';
import { type Answered, recordEvent, recordWanted } from '../channel.ts';

const answerChars = 256 * 1024; // that are kept of an answer

// A stream has no end, and pictures are no data.
const isText = (type: string): boolean =>
  /json|^text\/|xml|graphql/i.test(type) && !/event-stream|ndjson/i.test(type);

function tapRequests(): void {
  const { port1: port, port2 } = new MessageChannel();
  let on = true;

  const tell = (method: string, url: string, status: number, text: string): void => {
    if (!on) return;
    const told: Answered = {
      kind: 'answer',
      method: method.toUpperCase(),
      url: new URL(url, document.baseURI).href,
      status,
      text: text.slice(0, answerChars),
      cut: text.length > answerChars,
    };
    port.postMessage(told);
  };

  const pageFetch = globalThis.fetch;
  const tappedFetch = function fetch(this: unknown, ...given: Parameters<typeof pageFetch>) {
    const [input, init] = given;
    const url = input instanceof Request ? input.url : String(input);
    const method = init?.method ?? (input instanceof Request ? input.method : 'GET');
    const answer = Reflect.apply(pageFetch, this, given);
    const copy = async (response: Response) => {
      if (!on || !isText(response.headers.get('content-type') ?? '')) return;
      tell(method, url, response.status, await response.clone().text());
    };
    // The page deals with a request that fails; here only its answer matters.
    answer.then(copy).catch(() => {});
    return answer;
  };

  const { open, send } = XMLHttpRequest.prototype;
  const asked = new WeakMap<XMLHttpRequest, { method: string; url: string }>();
  const tappedOpen = function (this: XMLHttpRequest, ...given: unknown[]) {
    asked.set(this, { method: String(given[0]), url: String(given[1]) });
    return Reflect.apply(open, this, given);
  };
  const tappedSend = function (this: XMLHttpRequest, ...given: unknown[]) {
    this.addEventListener('loadend', () => {
      const about = asked.get(this);
      if (about === undefined || this.status === 0) return;
      if (!isText(this.getResponseHeader('content-type') ?? '')) return;
      if (this.responseType === '' || this.responseType === 'text')
        tell(about.method, about.url, this.status, this.responseText);
      else if (this.responseType === 'json')
        tell(about.method, about.url, this.status, JSON.stringify(this.response));
    });
    return Reflect.apply(send, this, given);
  };

  globalThis.fetch = tappedFetch;
  XMLHttpRequest.prototype.open = tappedOpen;
  XMLHttpRequest.prototype.send = tappedSend;

  port.onmessage = ({ data }: MessageEvent<unknown>) => {
    if (!isRecord(data) || data.type !== 'end') return;
    on = false;
    port.close();
    // What the page has put on top since stays.
    if (globalThis.fetch === tappedFetch) globalThis.fetch = pageFetch;
    if (XMLHttpRequest.prototype.open === tappedOpen) XMLHttpRequest.prototype.open = open;
    if (XMLHttpRequest.prototype.send === tappedSend) XMLHttpRequest.prototype.send = send;
  };

  const give = (): void => {
    const offer = new MessageEvent(recordEvent, { ports: [port2], cancelable: true });
    if (!document.dispatchEvent(offer)) document.removeEventListener(recordWanted, give);
  };
  document.addEventListener(recordWanted, give);
  give();
}

tapRequests();
