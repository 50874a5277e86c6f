// Runs in a page. Puts functions of its own in the place of everything that requests and their answers are made of.
// Each writes down what it is given, where a test finds it, and those that answer say something else.
const { apply, construct, defineProperty, getOwnPropertyDescriptor, ownKeys, setPrototypeOf } = Reflect;
const { stringify } = JSON;
const { Response, Promise: OwnPromise, String: text } = globalThis;
const { push, join } = Array.prototype;
const page = document.documentElement;
const show = Element.prototype.setAttribute;

const noted = [];
let inside = false;
function note(name, self, given) {
  if (inside) return;
  inside = true;
  const values = [self];
  for (let i = 0; i < given.length; i++) values[i + 1] = given[i];
  for (let i = 0; i < values.length; i++) {
    try {
      apply(push, noted, [
        `${name}: ${typeof values[i] === 'object' ? stringify(values[i]) : text(values[i])}`,
      ]);
    } catch {
      apply(push, noted, [`${name}: ?`]);
    }
  }
  apply(show, page, ['data-seen', apply(join, noted, ['\n'])]);
  inside = false;
}

const forged = { forged: true };
const forgeries = {
  fetch: () => new OwnPromise((resolve) => resolve(new Response('{"forged":true}'))),
  json: async () => forged,
  text: async () => '{"forged":true}',
  parse: () => forged,
  stringify: () => '{"forged":true}',
  ok: () => true,
  status: () => 200,
};

function replace(owner, keys) {
  for (let i = 0; i < keys.length; i++) {
    const key = keys[i];
    const name = text(key);
    const before = getOwnPropertyDescriptor(owner, key);
    const original = before?.get ?? before?.value;
    if (typeof original !== 'function' || key === 'constructor') continue;
    const forge = forgeries[name];
    function impostor(...args) {
      note(name, this, args);
      if (new.target !== undefined) return construct(original, args, new.target);
      return forge === undefined ? apply(original, this, args) : forge();
    }
    impostor.prototype = original.prototype;
    setPrototypeOf(impostor, original); // its static functions
    defineProperty(owner, key, before.get === undefined ? { value: impostor } : { get: impostor });
  }
}

const classes = [
  'Request',
  'Response',
  'Headers',
  'URLSearchParams',
  'URL',
  'AbortSignal',
  'AbortController',
  'Map',
];
for (let i = 0; i < classes.length; i++) {
  const { prototype } = globalThis[classes[i]];
  replace(prototype, ownKeys(prototype));
}
replace(AbortSignal, ['any', 'timeout']);
replace(globalThis, [...classes, 'fetch', 'setTimeout', 'encodeURIComponent', 'String']);
replace(JSON, ['parse', 'stringify']);
replace(Reflect, ['apply', 'construct', 'defineProperty', 'get', 'ownKeys']);
replace(Object, ['assign', 'defineProperty', 'entries', 'hasOwn', 'keys']);
replace(String.prototype, ['indexOf', 'slice', 'toLowerCase', 'trim']);
replace(RegExp.prototype, ['exec', 'test']);
replace(Array.prototype, ['forEach', 'join', 'map', 'push', Symbol.iterator]);
for (const [name, value] of [
  ['method', 'PUT'],
  ['redirect', 'error'],
  ['integrity', 'sha256-x'],
  ['x-forged', 'yes'],
])
  defineProperty(Object.prototype, name, {
    value,
    writable: true,
    configurable: true,
    enumerable: name === 'x-forged',
  });

// Promises: what a value is handed on by, and what `await` asks which class a promise is of.
const { then } = Promise.prototype;
defineProperty(Promise.prototype, 'then', {
  value: function (fulfilled, rejected) {
    const taken = (value) => {
      note('then', value, []);
      return typeof fulfilled === 'function' ? fulfilled(forged) : forged;
    };
    return apply(then, this, [taken, rejected]);
  },
});
defineProperty(Promise.prototype, 'constructor', { value: function Impostor() {} });
