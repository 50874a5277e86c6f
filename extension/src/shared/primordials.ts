// The built-ins our code in a page depends on, taken when this module is evaluated. In the main world that is at
// document_start, before any script of the page; what the page replaces afterwards is not used.

const { apply, getPrototypeOf } = Reflect;
const DOMExceptionCtor = DOMException;
export const TypeErrorCtor = TypeError;
const { defineProperty: define } = Reflect;
export const { get: property, getOwnPropertyDescriptor: ownDescriptor } = Reflect;

/** Reflect.defineProperty that heeds the descriptor's own fields only, not what a page put on Object.prototype. */
export function defineProperty(target: object, name: PropertyKey, own: PropertyDescriptor): boolean {
  const bare: PropertyDescriptor & { __proto__: null } = { __proto__: null, ...own };
  return define(target, name, bare);
}

/** A method as a function of its object. */
export function uncurry<This, Args extends readonly unknown[], Result>(
  method: (this: This, ...args: Args) => Result,
): (self: This, ...args: Args) => Result {
  return (self, ...args) => apply(method, self, args);
}

const ordinaryHasInstance = uncurry(Function.prototype[Symbol.hasInstance]);

/** instanceof, of which a page sees nothing: one that asks its classes shows them what is compared. */
export const isA = <T>(value: unknown, kind: abstract new (...args: never) => T): value is T =>
  ordinaryHasInstance(kind, value);

/** A getter as a function of its object. Classes that only browsers have are undefined in tests. */
export function getterOf<Self extends object, Name extends keyof Self & string>(
  owner: { prototype: Self } | undefined,
  name: Name,
): (self: Self) => Self[Name] {
  const get = owner && Object.getOwnPropertyDescriptor(owner.prototype, name)?.get;
  if (get === undefined) return (self) => self[name];
  return (self) => apply(get, self, []);
}

const textSlice = uncurry(String.prototype.slice);
export const parseJson = JSON.parse;
const stringify = JSON.stringify;
const toText = uncurry(Object.prototype.toString);
/** What kind of object a value is: Object, Promise, Response. */
export const tagOf = (value: object): string => textSlice(toText(value), '[object '.length, -1);
export const keysOf = Object.keys;
export const isArray = Array.isArray;
export const stringOf = String;
export const isFiniteNumber = Number.isFinite;
export const { ceil, max, min, round } = Math;
export const later = globalThis.setTimeout;
export const dropTimer = globalThis.clearTimeout;
export const MapCtor = Map;
export const MessageChannelCtor = MessageChannel;
export const MessageEventCtor = MessageEvent;

export const mapGet = uncurry(Map.prototype.get);
export const mapHas = uncurry(Map.prototype.has);
export const mapSet = uncurry(Map.prototype.set);
export const mapDelete = uncurry(Map.prototype.delete);
export const mapEach = uncurry(Map.prototype.forEach);
export const indexOf = uncurry(String.prototype.indexOf);
export const slice = uncurry(String.prototype.slice);
export const codeAt = uncurry(String.prototype.charCodeAt);
export const toLower = uncurry(String.prototype.toLowerCase);
export const join = uncurry(Array.prototype.join);
export const portPost: (port: MessagePort, message: unknown) => void = uncurry(
  MessagePort.prototype.postMessage,
);
export const portStart = uncurry(MessagePort.prototype.start);
export const listen = uncurry(EventTarget.prototype.addEventListener);
export const unlisten = uncurry(EventTarget.prototype.removeEventListener);
export const dispatch = uncurry(EventTarget.prototype.dispatchEvent);
const EventTargetCtor = EventTarget;
const { ErrorEvent: ErrorEventCtor, PromiseRejectionEvent: RejectionEventCtor } = globalThis;
export const isEventTarget = (value: unknown): value is EventTarget => isA(value, EventTargetCtor);
const readError = getterOf(globalThis.ErrorEvent, 'error');
const readMessage = getterOf(globalThis.ErrorEvent, 'message');
const readFile = getterOf(globalThis.ErrorEvent, 'filename');
const readLine = getterOf(globalThis.ErrorEvent, 'lineno');
const readColumn = getterOf(globalThis.ErrorEvent, 'colno');
const readReason = getterOf(globalThis.PromiseRejectionEvent, 'reason');
const readPromise = getterOf(globalThis.PromiseRejectionEvent, 'promise');
const isOf = <E extends Event>(event: Event, kind: new (...args: never) => E): event is E =>
  isA(event, kind) && event.isTrusted; // of the browser's own making

/** What an error event of the browser says; undefined for another event. */
export function errorEvent(
  event: Event,
): { error: unknown; message: string; file: string; line: number; column: number } | undefined {
  if (!isOf(event, ErrorEventCtor)) return undefined;
  return {
    error: readError(event),
    message: readMessage(event),
    file: readFile(event),
    line: readLine(event),
    column: readColumn(event),
  };
}

/** Why a promise failed that nobody awaits; undefined for another event. Other worlds' promises are not shown. */
export function rejectionReason(event: Event): { value: unknown; ofThisWorld: boolean } | undefined {
  if (!isOf(event, RejectionEventCtor)) return undefined;
  const promise: unknown = readPromise(event);
  return { value: readReason(event), ofThisWorld: promise !== null && promise !== undefined };
}
const readData = getterOf(MessageEvent, 'data');
export const eventData = (event: Event): unknown =>
  isA(event, MessageEventCtor) ? readData(event) : undefined;
export const call = apply;

export const { deleteProperty, setPrototypeOf } = Reflect;
const objectPrototype = Object.prototype;
const plainPrototypes = [
  Object.prototype,
  Array.prototype,
  String.prototype,
  Number.prototype,
  Boolean.prototype,
  BigInt.prototype,
  Function.prototype,
];

// Whether plain data inherits from what it should, and from nothing in between.
function inheritPlainly(): boolean {
  for (let i = 1; i < plainPrototypes.length; i++) {
    const prototype = plainPrototypes[i];
    if (prototype === undefined || getPrototypeOf(prototype) !== objectPrototype) return false;
  }
  return true;
}

/**
 * JSON text of value. A toJSON that the page hung on the prototypes of plain data, as old libraries do, is taken
 * away meanwhile: a tool's answer is what the tool returned. Where that cannot be done, there is no text.
 */
export function encodeJson(
  value: unknown,
  show?: (key: string, part: unknown) => unknown,
): string | undefined {
  if (typeof value === 'string') return stringify(value); // JSON asks only objects for a toJSON
  if (!inheritPlainly()) throw new TypeErrorCtor('the page has changed what plain data inherits from');
  let hung: PropertyDescriptor[] | undefined;
  try {
    for (let i = 0; i < plainPrototypes.length; i++) {
      const prototype = plainPrototypes[i];
      const found = prototype === undefined ? undefined : ownDescriptor(prototype, 'toJSON');
      if (prototype === undefined || found === undefined) continue;
      if (!deleteProperty(prototype, 'toJSON'))
        throw new TypeErrorCtor('the page has put a toJSON on all data that cannot be taken away');
      hung ??= [];
      defineProperty(hung, i, { value: found, configurable: true });
    }
    return stringify(value, show);
  } finally {
    for (let i = 0; hung !== undefined && i < hung.length; i++) {
      const prototype = plainPrototypes[i];
      const found = ownDescriptor(hung, i)?.value;
      if (prototype !== undefined && found !== undefined) defineProperty(prototype, 'toJSON', found);
    }
  }
}

// What the language's own objects inherit from: nothing that a tool throws gets its fields there, but a page can hang
// something on them.
const common = [
  Object.prototype,
  Error.prototype,
  TypeError.prototype,
  RangeError.prototype,
  SyntaxError.prototype,
  ReferenceError.prototype,
  EvalError.prototype,
  URIError.prototype,
  AggregateError.prototype,
  DOMException.prototype,
];

function isCommon(object: object): boolean {
  for (let i = 0; i < common.length; i++) if (common[i] === object) return true;
  return false;
}

const domMessage = getterOf(DOMException, 'message');

/** A field of what a tool threw: its own, or of a class of the plugin; nothing the page put on a built-in prototype. */
export function errorField(thrown: object, name: string): unknown {
  for (let at: object | null = thrown; at !== null && !isCommon(at); at = getPrototypeOf(at)) {
    if (ownDescriptor(at, name) !== undefined) return property(thrown, name, thrown);
  }
  return name === 'message' && isA(thrown, DOMExceptionCtor) ? domMessage(thrown) : undefined;
}

const clock = performance;
const clockNow = uncurry(Performance.prototype.now);
/** Milliseconds since the document began, the same in both worlds of a page. */
export const now = (): number => clockNow(clock);

export const AbortControllerCtor = AbortController;
export const abortWith = uncurry(AbortController.prototype.abort);
export const signalOf = getterOf(AbortController, 'signal');

/** An AbortSignal and the function that aborts it, with the name a fetch or a wait will see in its reason. */
export function abortable(): { signal: AbortSignal; abort: (name: string, message: string) => void } {
  const controller = new AbortControllerCtor();
  const abort = (name: string, message: string) => abortWith(controller, new DOMExceptionCtor(message, name));
  return { signal: signalOf(controller), abort };
}

const PromiseCtor = Promise;
const promisePrototype = Promise.prototype;
const promiseThen = uncurry(Promise.prototype.then<void, void>);

function isNativePromise(value: unknown): value is Promise<unknown> {
  return typeof value === 'object' && value !== null && getPrototypeOf(value) === promisePrototype;
}

// A promise finds the class of what `then` returns through its `constructor`, which a page can replace on the
// prototype. An own `constructor` of undefined means the built-in one.
function thenSafely(
  promise: Promise<unknown>,
  fulfilled: (value: unknown) => void,
  rejected: (reason: unknown) => void,
): void {
  defineProperty(promise, 'constructor', { value: undefined, configurable: true, writable: true });
  promiseThen(promise, fulfilled, rejected);
}

/** A promise that `await` takes as it is, whatever the page did to Promise.prototype. */
export function keep<T>(promise: Promise<T>): Promise<T> {
  defineProperty(promise, 'constructor', { value: PromiseCtor, configurable: true, writable: true });
  return promise;
}

// The built-in prototypes on which a page could hang a `then` that every value would have.
function isBuiltIn(object: object): boolean {
  for (let i = 0; i < plainPrototypes.length; i++) if (plainPrototypes[i] === object) return true;
  return isCommon(object);
}

/** A `then` of the value's own or of a class of the plugin; not one that the page hung on a built-in prototype. */
function thenOf(value: unknown): ((...args: never) => unknown) | undefined {
  if ((typeof value !== 'object' || value === null) && typeof value !== 'function') return undefined;
  for (let at: object | null = value; at !== null && !isBuiltIn(at); at = getPrototypeOf(at)) {
    if (ownDescriptor(at, 'then') === undefined) continue;
    const found: unknown = property(value, 'then', value);
    return isFunction(found) ? found : undefined;
  }
  return undefined;
}

const isFunction = (value: unknown): value is (...args: never) => unknown => typeof value === 'function';

/**
 * Whether the page has put a `then` on what every value inherits from. An async function hands its value to it, and
 * nothing can keep it from that.
 */
export function thenIsPatched(): boolean {
  for (let i = 0; i < plainPrototypes.length; i++) {
    const prototype = plainPrototypes[i];
    if (prototype !== undefined && ownDescriptor(prototype, 'then') !== undefined) return true;
  }
  return !inheritPlainly();
}

const asyncPrototype = getPrototypeOf(async () => {});
/** Whether a function is written as an async one. */
export const isAsync = (callable: object): boolean => getPrototypeOf(callable) === asyncPrototype;

/** Whether a value is a promise or thenable. */
export const isPromise = (value: unknown): boolean => isNativePromise(value) || thenOf(value) !== undefined;

const soon = new PromiseCtor<undefined>((resolve) => resolve(undefined));

/**
 * Calls one of the two when value, which may be a promise, a thenable or neither, is settled. What is neither is handed
 * on as it is: `resolve` would ask it for a `then`, and the page may have hung one on every object.
 */
export function settle(
  value: unknown,
  fulfilled: (value: unknown) => void,
  rejected: (reason: unknown) => void,
): void {
  if (isNativePromise(value)) {
    try {
      thenSafely(value, fulfilled, rejected);
      return;
    } catch {
      // Not a promise after all, or frozen: the way below accepts both.
    }
  }
  let then: ReturnType<typeof thenOf>;
  try {
    then = thenOf(value);
  } catch (thrown) {
    thenSafely(soon, () => rejected(thrown), rejected);
    return;
  }
  thenSafely(
    soon,
    () => (then === undefined ? fulfilled(value) : follow(value, then, fulfilled, rejected)),
    rejected,
  );
}

// As a promise would follow a thenable: the first word counts, and what it is settled with may be one again.
function follow(
  value: unknown,
  then: (...args: never) => unknown,
  fulfilled: (value: unknown) => void,
  rejected: (reason: unknown) => void,
): void {
  let settled = false;
  const once = (end: () => void) => {
    if (settled) return;
    settled = true;
    end();
  };
  try {
    apply(then, value, [
      (inner: unknown) => once(() => settle(inner, fulfilled, rejected)),
      (reason: unknown) => once(() => rejected(reason)),
    ]);
  } catch (thrown) {
    once(() => rejected(thrown));
  }
}

/** A promise with the functions that settle it. Made of the built-in class, whatever the page put in its place. */
export function deferred<T>(): {
  promise: Promise<T>;
  resolve(value: T): void;
  reject(reason: unknown): void;
} {
  let resolve: (value: T) => void = () => {};
  let reject: (reason: unknown) => void = () => {};
  const promise = new PromiseCtor<T>((fulfil, refuse) => {
    resolve = fulfil;
    reject = refuse;
  });
  return { promise, resolve, reject };
}

export const URLCtor = URL;
/** The text of a URL object. */
export const hrefOf = getterOf(URL, 'href');

/** An address as it is from this document. */
export const absoluteUrl = (address: string): string => {
  try {
    return stringOf(hrefOf(new URLCtor(address, location.href)));
  } catch {
    return address;
  }
};
