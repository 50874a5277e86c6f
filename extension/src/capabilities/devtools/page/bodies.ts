// Bodies of answers that the page's own fetch and XMLHttpRequest get, while somebody asked for them. The page keeps its
// functions: to its scripts these proxies look the same.
import {
  call,
  deferred,
  defineProperty,
  indexOf,
  isPromise,
  now,
  ownDescriptor,
  property,
  settle,
  slice,
  stringOf,
  uncurry,
} from '../../../shared/primordials.ts';

/** One body, cut. */
export interface Body {
  url: string;
  method: string;
  status: number;
  at: number; // when it was there, in milliseconds since the document began
  text: string;
  cut: boolean;
}

const mostBody = 100_000; // characters
const ProxyCtor = Proxy;
const cloneOf = uncurry(Response.prototype.clone);
const textOf = uncurry(Response.prototype.text);
const headerOf = uncurry(Headers.prototype.get);
const headersOf = Object.getOwnPropertyDescriptor(Response.prototype, 'headers')?.get;
const ResponseOfPage = Response;
const RequestOfPage = Request;
const XhrOfPage = XMLHttpRequest;
const listenOf = uncurry(EventTarget.prototype.addEventListener);
const textual = /json|text|xml|javascript|x-www-form-urlencoded|graphql/i;
const testOf = uncurry(RegExp.prototype.test);

function isTextual(response: Response): boolean {
  const headers: unknown = headersOf === undefined ? undefined : call(headersOf, response, []);
  if (!(headers instanceof Headers)) return false;
  const type = headerOf(headers, 'content-type') ?? '';
  return testOf(textual, type) && indexOf(type, 'event-stream') < 0;
}

function bodyOf(about: Omit<Body, 'text' | 'cut' | 'at'>, text: string): Body {
  return { ...about, at: now(), text: slice(text, 0, mostBody), cut: text.length > mostBody };
}

// Puts a proxy in the place of a method, which answers what `after` makes of its result. What this returns puts the old
// one back, unless the page changed it since.
function front(
  owner: object,
  name: string,
  after: (self: unknown, values: readonly unknown[], result: unknown) => unknown,
): () => void {
  const before = ownDescriptor(owner, name);
  const original: unknown = before?.value;
  if (before?.configurable !== true || typeof original !== 'function') return () => {};
  const apply = (target: object, self: unknown, values: readonly unknown[]): unknown => {
    if (typeof target !== 'function') return undefined;
    const result: unknown = call(target, self, values);
    try {
      return after(self, values, result);
    } catch {
      return result; // the page's call is not to fail by it
    }
  };
  const bare: ProxyHandler<object> & { __proto__: null } = { __proto__: null, apply };
  const proxy = new ProxyCtor(original, bare);
  defineProperty(owner, name, { ...before, value: proxy });
  return () => {
    if (ownDescriptor(owner, name)?.value === proxy) defineProperty(owner, name, before);
  };
}

function methodOf([input, init]: readonly unknown[]): string {
  const given: unknown = typeof init === 'object' && init !== null ? property(init, 'method') : undefined;
  if (typeof given === 'string') return given;
  return input instanceof RequestOfPage ? input.method : 'GET';
}

/** Hears bodies from now on; what it returns ends that. */
export function watchBodies(heard: (body: Body) => void): () => void {
  const heed = (response: unknown, method: string) => {
    if (!(response instanceof ResponseOfPage) || !isTextual(response)) return;
    const { url, status } = response;
    const read = (text: unknown) => heard(bodyOf({ url, method, status }, stringOf(text)));
    settle(textOf(cloneOf(response)), read, () => {});
  };
  // The page gets a promise of its own: a failure that it does not handle is still one that nobody handled.
  const endFetch = front(window, 'fetch', (_, values, result) => {
    if (!isPromise(result)) return result;
    const method = methodOf(values);
    const { promise, resolve, reject } = deferred<unknown>();
    const passOn = (response: unknown) => {
      try {
        heed(response, method);
      } finally {
        resolve(response);
      }
    };
    settle(result, passOn, reject);
    return promise;
  });
  const methods = new WeakMap<object, string>();
  const remember = uncurry(WeakMap.prototype.set);
  const recall = uncurry(WeakMap.prototype.get);
  const endOpen = front(XhrOfPage.prototype, 'open', (self, values, result) => {
    if (self instanceof XhrOfPage) remember(methods, self, stringOf(values[0]));
    return result;
  });
  const endSend = front(XhrOfPage.prototype, 'send', (self, _, result) => {
    if (!(self instanceof XhrOfPage)) return result;
    listenOf(self, 'loadend', () => {
      const { responseType, responseURL: url, status } = self;
      if (status === 0 || (responseType !== '' && responseType !== 'text')) return;
      heard(bodyOf({ url, method: stringOf(recall(methods, self) ?? 'GET'), status }, self.responseText));
    });
    return result;
  });
  return () => {
    endFetch();
    endOpen();
    endSend();
  };
}
