// URL and URLSearchParams. parse reads an address as its parts.
(parse) => {
  const define = (name, value) =>
    Object.defineProperty(globalThis, name, { value, writable: true, configurable: true, enumerable: false });

  const encode = (text) =>
    encodeURIComponent(text)
      .replace(/%20/g, '+')
      .replace(/[!'()~]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
  const decode = (text) => {
    try {
      return decodeURIComponent(text.replace(/\+/g, ' '));
    } catch {
      return text;
    }
  };
  class URLSearchParams {
    #pairs = [];
    #changed;
    constructor(init = '', changed = () => {}) {
      this.#changed = changed;
      if (typeof init === 'string') {
        for (const part of init.replace(/^\?/, '').split('&')) {
          if (part === '') continue;
          const at = part.indexOf('=');
          this.#pairs.push(
            at < 0 ? [decode(part), ''] : [decode(part.slice(0, at)), decode(part.slice(at + 1))],
          );
        }
      } else {
        const pairs = typeof init[Symbol.iterator] === 'function' ? init : Object.entries(init);
        for (const [name, value] of pairs) this.#pairs.push([String(name), String(value)]);
      }
    }
    get size() {
      return this.#pairs.length;
    }
    append(name, value) {
      this.#pairs.push([String(name), String(value)]);
      this.#changed();
    }
    set(name, value) {
      const at = this.#pairs.findIndex(([one]) => one === name);
      this.#pairs = this.#pairs.filter(([one], i) => one !== name || i === at);
      if (at < 0) this.#pairs.push([String(name), String(value)]);
      else this.#pairs.find(([one]) => one === name)[1] = String(value);
      this.#changed();
    }
    delete(name) {
      this.#pairs = this.#pairs.filter(([one]) => one !== name);
      this.#changed();
    }
    get(name) {
      return this.#pairs.find(([one]) => one === name)?.[1] ?? null;
    }
    getAll(name) {
      return this.#pairs.filter(([one]) => one === name).map(([, value]) => value);
    }
    has(name) {
      return this.#pairs.some(([one]) => one === name);
    }
    forEach(action) {
      for (const [name, value] of this.#pairs) action(value, name, this);
    }
    keys() {
      return this.#pairs.map(([name]) => name)[Symbol.iterator]();
    }
    values() {
      return this.#pairs.map(([, value]) => value)[Symbol.iterator]();
    }
    entries() {
      return this.#pairs.map((pair) => pair.slice())[Symbol.iterator]();
    }
    [Symbol.iterator]() {
      return this.entries();
    }
    toString() {
      return this.#pairs.map(([name, value]) => `${encode(name)}=${encode(value)}`).join('&');
    }
  }
  define('URLSearchParams', URLSearchParams);

  class URL {
    #parts;
    #params;
    constructor(url, base) {
      this.#parts = parse(String(url), base === undefined ? '' : String(base));
      if (this.#parts === undefined) throw new TypeError(`Failed to construct 'URL': Invalid URL: ${url}`);
    }
    static canParse(url, base) {
      return parse(String(url), base === undefined ? '' : String(base)) !== undefined;
    }
    get searchParams() {
      this.#params ??= new URLSearchParams(this.search, () => {
        const text = this.#params.toString();
        this.#parts.search = text === '' ? '' : `?${text}`;
      });
      return this.#params;
    }
    get href() {
      const { protocol, host, pathname, search, hash } = this.#parts;
      return `${protocol}//${host}${pathname}${search}${hash}`;
    }
    get origin() {
      return `${this.#parts.protocol}//${this.#parts.host}`;
    }
    toString() {
      return this.href;
    }
    toJSON() {
      return this.href;
    }
    static {
      for (const key of ['protocol', 'host', 'hostname', 'port', 'pathname', 'search', 'hash']) {
        Object.defineProperty(URL.prototype, key, {
          get() {
            return this.#parts[key];
          },
          set(value) {
            const mark = { search: '?', hash: '#', pathname: '/' }[key] ?? '';
            const text = String(value);
            this.#parts[key] = text === '' || text.startsWith(mark) ? text : mark + text;
            if (key === 'search') this.#params = undefined;
          },
        });
      }
    }
  }
  define('URL', URL);
};
