// Stands in for a page while a plugin's tools are read: plugins look at document, location or WebSocket while they
// load. Whatever they find answers anything, and does nothing.
(names) => {
  const ghosts = new WeakSet();

  function ghost() {
    const known = new Map();
    // biome-ignore lint/complexity/useArrowFunction: a ghost can be made with `new`, and an arrow cannot
    const target = function () {};
    const made = new Proxy(target, {
      get(_, key) {
        if (key === 'prototype') return target.prototype;
        if (key === 'then') return undefined; // not a promise
        if (key === Symbol.toPrimitive) return (hint) => (hint === 'number' ? 0 : '');
        if (key === Symbol.iterator) return [][Symbol.iterator].bind([]);
        if (typeof key === 'symbol') return undefined;
        if (key === 'length') return 0;
        if (!known.has(key)) known.set(key, ghost());
        return known.get(key);
      },
      set(_, key, value) {
        known.set(key, value);
        return true;
      },
      defineProperty: () => true,
      deleteProperty: () => true,
      apply: () => ghost(),
      construct: () => ghost(),
    });
    ghosts.add(made);
    return made;
  }

  const quiet = () => {};
  const address = 'https://plugin.invalid/';
  const global = globalThis;
  const define = (name, value) =>
    Object.defineProperty(global, name, { value, writable: true, configurable: true, enumerable: false });

  for (const name of names) define(name, ghost());
  for (const name of ['window', 'self', 'top', 'parent', 'frames']) define(name, global);
  define('console', { debug: quiet, error: quiet, info: quiet, log: quiet, trace: quiet, warn: quiet });
  define('location', {
    href: address,
    origin: 'https://plugin.invalid',
    protocol: 'https:',
    host: 'plugin.invalid',
    hostname: 'plugin.invalid',
    port: '',
    pathname: '/',
    search: '',
    hash: '',
    toString: () => address,
    assign: quiet,
    reload: quiet,
    replace: quiet,
  });
  // What was never stored is null, or undefined as a property: plugins tell by it that there is nothing yet.
  class Kept {
    getItem(key) {
      return Object.hasOwn(this, key) ? this[key] : null;
    }
    setItem(key, value) {
      this[key] = String(value);
    }
    removeItem(key) {
      delete this[key];
    }
    clear() {
      for (const key of Object.keys(this)) delete this[key];
    }
    key(at) {
      return Object.keys(this)[at] ?? null;
    }
    get length() {
      return Object.keys(this).length;
    }
  }
  for (const name of ['localStorage', 'sessionStorage']) define(name, new Kept());
  for (const name of ['setTimeout', 'setInterval', 'requestAnimationFrame', 'requestIdleCallback']) {
    define(name, () => 0);
  }
  for (const name of [
    'clearTimeout',
    'clearInterval',
    'addEventListener',
    'removeEventListener',
    'queueMicrotask',
  ]) {
    define(name, quiet);
  }

  const parse = JSON.parse;
  JSON.parse = (text, reviver) => (ghosts.has(text) ? ghost() : parse(text, reviver));

  // A browser knows more regular expressions than this engine. One it cannot compile still has its source.
  const Real = RegExp;
  function Lenient(source, flags) {
    try {
      return new Real(source, flags);
    } catch {
      const never = new Real('(?!)');
      return Object.defineProperties(never, {
        source: { value: String(source) },
        flags: { value: String(flags === undefined ? '' : flags) },
      });
    }
  }
  Lenient.prototype = Real.prototype;
  Object.setPrototypeOf(Lenient, Real);
  define('RegExp', Lenient);
};
