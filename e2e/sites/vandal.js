// Runs in a page. Replaces every function and every accessor that can be reached from the global object: methods and
// getters throw, whoever calls them. One value stays, for the tools that are allowed to read it.
globalThis.pageSecret = 'kept by the page';

const { defineProperty, getOwnPropertyDescriptor, getPrototypeOf, ownKeys } = Reflect;
const isObject = (value) => (typeof value === 'object' && value !== null) || typeof value === 'function';
const kept = new Set(['pageSecret', 'constructor', 'window', 'self', 'globalThis', 'document', 'location']);

// First everything is found: afterwards nothing works any more, this script's own calls included.
const seen = new Set([globalThis]);
const targets = [];
for (const object of seen) {
  const prototype = getPrototypeOf(object);
  if (prototype !== null) seen.add(prototype);
  for (const key of ownKeys(object)) {
    const descriptor = getOwnPropertyDescriptor(object, key);
    if (isObject(descriptor.value)) seen.add(descriptor.value);
    if (typeof descriptor.value === 'function' && isObject(descriptor.value.prototype))
      seen.add(descriptor.value.prototype);
    const replaceable = descriptor.configurable && (typeof descriptor.value === 'function' || descriptor.get);
    if (replaceable && !kept.has(key))
      targets.push({ object, key, isAccessor: descriptor.get !== undefined });
  }
}

const spoiled = () => {
  throw 'spoiled by the page';
};
const count = targets.length;
for (let i = 0; i < count; i++) {
  const { object, key, isAccessor } = targets[i];
  try {
    defineProperty(object, key, isAccessor ? { get: spoiled, set: spoiled } : { value: spoiled });
  } catch {
    // Not every object lets itself be changed.
  }
}
globalThis.pageSpoiled = count;
