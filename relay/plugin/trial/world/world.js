// What a handler may use without a page, besides addresses: requests, signals and timers.
// What only a page has is missing, and touched says that a handler asked for it.
(touched, address, needPage) => {
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });

  // Time passes only when nothing else can happen, and then at once.
  let now = 0;
  let last = 0;
  const timers = new Map();
  const after =
    (ms, repeat) =>
    (action, delay, ...given) => {
      const wait = Math.max(Number(delay) || 0, ms);
      timers.set(++last, {
        at: now + wait,
        action: () => action(...given),
        every: repeat ? wait : undefined,
      });
      return last;
    };
  define('setTimeout', after(0, false));
  define('setInterval', after(1, true));
  define('clearTimeout', (id) => timers.delete(id));
  define('clearInterval', (id) => timers.delete(id));
  define('queueMicrotask', (action) => Promise.resolve().then(action));
  define('performance', { now: () => now });
  const tick = () => {
    const [next] = Array.from(timers).sort(([a, x], [b, y]) => x.at - y.at || a - b);
    if (next === undefined) return false;
    const [id, timer] = next;
    now = Math.max(now, timer.at);
    if (timer.every === undefined) timers.delete(id);
    else timer.at = now + timer.every;
    timer.action();
    return now < 3_600_000;
  };

  const here = new URL(address);
  define('location', here);
  for (const name of ['window', 'self', 'top', 'parent']) define(name, globalThis);

  class Headers {
    #all = new Map();
    constructor(init = {}) {
      const pairs = typeof init[Symbol.iterator] === 'function' ? init : Object.entries(init);
      for (const [name, value] of pairs) this.append(name, value);
    }
    append(name, value) {
      const had = this.get(name);
      this.set(name, had === null ? value : `${had}, ${value}`);
    }
    set(name, value) {
      this.#all.set(String(name).toLowerCase(), String(value).trim());
    }
    get(name) {
      return this.#all.get(String(name).toLowerCase()) ?? null;
    }
    has(name) {
      return this.get(name) !== null;
    }
    delete(name) {
      this.#all.delete(String(name).toLowerCase());
    }
    forEach(action) {
      for (const [name, value] of this) action(value, name, this);
    }
    [Symbol.iterator]() {
      return Array.from(this.#all).sort()[Symbol.iterator]();
    }
    entries() {
      return this[Symbol.iterator]();
    }
  }
  define('Headers', Headers);

  class Body {
    #text;
    bodyUsed = false;
    constructor(body) {
      this.#text = body === null || body === undefined ? '' : String(body);
    }
    async text() {
      if (this.bodyUsed) throw new TypeError('Body is already used');
      this.bodyUsed = true;
      return this.#text;
    }
    async json() {
      return JSON.parse(await this.text());
    }
    get kept() {
      return this.#text;
    }
  }
  class Request extends Body {
    constructor(input, init = {}) {
      const from = input instanceof Request ? input : undefined;
      const body = init.body ?? from?.kept;
      super(body);
      this.url = from === undefined ? new URL(String(input), here.href).href : from.url;
      this.method = String(init.method ?? from?.method ?? 'GET').toUpperCase();
      this.headers = new Headers(init.headers ?? from?.headers ?? {});
      this.signal = init.signal ?? from?.signal ?? new AbortController().signal;
      this.credentials = init.credentials ?? from?.credentials ?? 'same-origin';
      const form = body instanceof URLSearchParams && !this.headers.has('content-type');
      if (form) this.headers.set('content-type', 'application/x-www-form-urlencoded;charset=UTF-8');
      if (body !== undefined && ['GET', 'HEAD'].includes(this.method) && String(body) !== '')
        throw new TypeError('Request with GET/HEAD method cannot have body.');
    }
    clone() {
      return new Request(this);
    }
  }
  define('Request', Request);
  class Response extends Body {
    constructor(body, { status = 200, headers = {} } = {}) {
      super(body);
      this.status = status;
      this.ok = status >= 200 && status < 300;
      this.statusText = '';
      this.headers = new Headers(headers);
    }
    clone() {
      const copy = new Response(this.kept, this);
      Object.defineProperty(copy, 'url', { value: this.url });
      return copy;
    }
  }
  define('Response', Response);

  class AbortSignal {
    aborted = false;
    reason = undefined;
    onabort = null;
    #heard = new Set();
    addEventListener(kind, action) {
      if (kind === 'abort') this.#heard.add(action);
    }
    removeEventListener(_, action) {
      this.#heard.delete(action);
    }
    throwIfAborted() {
      if (this.aborted) throw this.reason;
    }
    fire(reason) {
      if (this.aborted) return;
      this.aborted = true;
      this.reason =
        reason ?? Object.assign(new Error('signal is aborted without reason'), { name: 'AbortError' });
      this.onabort?.({ type: 'abort' });
      for (const action of this.#heard) (action.handleEvent ?? action)({ type: 'abort', target: this });
    }
    static any(signals) {
      const all = new AbortSignal();
      for (const one of signals) {
        if (one.aborted) all.fire(one.reason);
        else one.addEventListener('abort', () => all.fire(one.reason));
      }
      return all;
    }
    static abort(reason) {
      const signal = new AbortSignal();
      signal.fire(reason);
      return signal;
    }
    static timeout(ms) {
      const signal = new AbortSignal();
      setTimeout(
        () => signal.fire(Object.assign(new Error('signal timed out'), { name: 'TimeoutError' })),
        ms,
      );
      return signal;
    }
  }
  define('AbortSignal', AbortSignal);
  define(
    'AbortController',
    class AbortController {
      signal = new AbortSignal();
      abort(reason) {
        this.signal.fire(reason);
      }
    },
  );
  define(
    'TextEncoder',
    class TextEncoder {
      encode(text = '') {
        const bytes = encodeURIComponent(String(text).toWellFormed?.() ?? String(text)).replace(
          /%([0-9A-F]{2})/g,
          (_, code) => String.fromCharCode(Number.parseInt(code, 16)),
        );
        return Uint8Array.from(bytes, (byte) => byte.charCodeAt(0));
      }
    },
  );
  const quiet = () => {};
  define('console', { debug: quiet, error: quiet, info: quiet, log: quiet, trace: quiet, warn: quiet });
  define('structuredClone', (value) => (value === undefined ? value : JSON.parse(JSON.stringify(value))));
  for (const name of needPage) {
    Object.defineProperty(globalThis, name, {
      configurable: true,
      get() {
        touched(name);
        return undefined;
      },
      set: (value) => define(name, value),
    });
  }
  return tick;
};
