// What the SDK's requests need of the browser in the main world, made of functions that no script of the page could
// replace; plugin-sdk/src/network.ts says what each is for. What the browser reads fields of has no prototype here: it
// would take those that the page put on Object.prototype, too.
import {
  AbortControllerCtor,
  abortWith,
  call,
  deferred,
  defineProperty,
  encodeJson,
  getterOf,
  hrefOf,
  indexOf,
  isA,
  isArray,
  keep,
  keysOf,
  later,
  listen,
  ownDescriptor,
  parseJson,
  property,
  settle,
  signalOf,
  slice,
  stringOf,
  TypeErrorCtor,
  thenIsPatched,
  toLower,
  URLCtor,
  uncurry,
  unlisten,
} from '../shared/primordials.ts';

const browserFetch = fetch;
const RequestCtor = Request;
const HeadersCtor = Headers;
const FormCtor = URLSearchParams;
const SignalCtor = AbortSignal;
const ViolationCtor = globalThis.SecurityPolicyViolationEvent; // only browsers have it
const ArrayBufferCtor = ArrayBuffer;
const responsePrototype = Response.prototype;

const signalAfter = AbortSignal.timeout;
const isAborted = getterOf(AbortSignal, 'aborted');
const reasonOf = getterOf(AbortSignal, 'reason');
const urlOf = getterOf(Request, 'url');
const methodOf = getterOf(Request, 'method');
const redirectOf = getterOf(Request, 'redirect');
const headersOf = getterOf(Request, 'headers');
const abortedBy = getterOf(Request, 'signal');
const readBody = uncurry(Request.prototype.arrayBuffer);
const copyRequest = uncurry(Request.prototype.clone);
const okOf = getterOf(Response, 'ok');
const statusOf = getterOf(Response, 'status');
const replyHeaders = getterOf(Response, 'headers');
const replyUrl = getterOf(Response, 'url');
const readText = uncurry(Response.prototype.text);
const copyResponse = uncurry(Response.prototype.clone);
const headerOf = uncurry(Headers.prototype.get);
const eachHeader = uncurry(Headers.prototype.forEach);
const append = uncurry(URLSearchParams.prototype.append);
const trim = uncurry(String.prototype.trim);
const sizeOf = getterOf(ArrayBuffer, 'byteLength');
const directiveOf = getterOf(ViolationCtor, 'effectiveDirective');
const blockedBy = getterOf(ViolationCtor, 'blockedURI');

/** An object without a prototype. */
export const bare = <Fields extends object>(fields: Fields): Fields => {
  const made: Fields & { __proto__: null } = { __proto__: null, ...fields };
  return made;
};

/** Sends a request from outside the page; see outside.ts. */
type SendOutside = (request: Request) => Promise<Response>;

/** The requests of one plugin. */
export const openNetwork = (outside: SendOutside) => ({
  open(
    input: string | URL | Request,
    init: RequestInit,
    defaults: Readonly<Record<string, string>>,
    timeoutMs: number,
  ) {
    const fields = bare<RequestInit>({ credentials: 'include', ...init });
    const given = fields.headers ?? (isA(input, RequestCtor) ? headersOf(input) : undefined);
    fields.headers = headersFrom(given, defaults);
    const request = new RequestCtor(isA(input, URLCtor) ? hrefOf(input) : input, fields);
    const caller = abortedBy(request);
    const clock: AbortSignal = call(signalAfter, SignalCtor, [timeoutMs]);
    return {
      url: urlOf(request),
      method: methodOf(request),
      send: () => send(request, firstOf(caller, clock), outside),
      throwIfAborted() {
        if (isAborted(caller)) throw reasonOf(caller);
      },
      expired: () => isAborted(clock),
    };
  },
  reply: (response: Response) => ({
    ok: okOf(response),
    status: statusOf(response),
    url: stringOf(ownDescriptor(response, 'url')?.value ?? replyUrl(response)), // its own when it came from outside
    header: (name: string) => headerOf(replyHeaders(response), name),
    text: () => readText(response),
    copy: () => copyResponse(response),
  }),
  parse: (text: string): unknown => (trim(text) === '' ? undefined : parseJson(text)),
  stringify: (value: unknown) => encodeJson(value),
  form(fields: Readonly<Record<string, unknown>>) {
    const form = new FormCtor();
    const names = keysOf(fields);
    for (let i = 0; i < names.length; i++) {
      const name = names[i];
      if (name !== undefined) addField(form, name, fields[name]);
    }
    return form;
  },
  keep,
  answersAreTaken: () => thenIsPatched() || ownDescriptor(responsePrototype, 'then') !== undefined,
});

export type Network = ReturnType<typeof openNetwork>;

function addField(form: URLSearchParams, name: string, value: unknown): void {
  if (isArray(value)) for (let i = 0; i < value.length; i++) addField(form, name, value[i]);
  else if (value !== undefined && value !== null) append(form, name, stringOf(value));
}

/** Headers as a record, and those of defaults that are not among them. A name given twice has both values. */
export function headersFrom(
  given: HeadersInit | readonly string[][] | undefined,
  defaults: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const headers = bare<Record<string, string>>({});
  const add = (value: string, name: string) => {
    const lower = toLower(stringOf(name));
    const before = headers[lower];
    headers[lower] = before === undefined ? stringOf(value) : `${before}, ${stringOf(value)}`;
  };
  if (isA(given, HeadersCtor)) eachHeader(given, add);
  else if (isArray(given)) {
    for (let i = 0; i < given.length; i++) add(given[i]?.[1] ?? '', given[i]?.[0] ?? '');
  } else if (given !== undefined) eachField(given, add);
  eachField(defaults, (value, name) => {
    headers[name] ??= value;
  });
  return headers;
}

function eachField(record: object, each: (value: string, name: string) => void): void {
  const names = keysOf(record);
  for (let i = 0; i < names.length; i++) {
    const name = names[i];
    if (name !== undefined) each(stringOf(property(record, name)), name);
  }
}

/** A signal that aborts with the first of two. */
function firstOf(one: AbortSignal, other: AbortSignal): AbortSignal {
  const controller = new AbortControllerCtor();
  const abort = (reason: unknown) => abortWith(controller, reason);
  follow(one, abort);
  follow(other, abort);
  return signalOf(controller);
}

function follow(signal: AbortSignal, abort: (reason: unknown) => void): void {
  if (isAborted(signal)) abort(reasonOf(signal));
  else listen(signal, 'abort', () => abort(reasonOf(signal)));
}

/** Calls back with the reason when a request is aborted, now or later. */
export const onAbort = (request: Request, abort: (reason: unknown) => void): void =>
  follow(abortedBy(request), abort);

/**
 * Sends a request, and sends it again from outside the page when the page's Content-Security-Policy refused it. Only
 * when the browser says so, because a request that failed otherwise may have arrived.
 */
async function send(request: Request, signal: AbortSignal, outside: SendOutside): Promise<Response> {
  const url = urlOf(request);
  if (originOf(url) !== location.origin) return await keep(browserFetch(request, bare({ signal })));
  const again = new RequestCtor(copyRequest(request), bare({ signal }));
  const refusals = watchRefusals(url);
  try {
    return await keep(browserFetch(request, bare({ signal })));
  } catch (error) {
    if (!isA(error, TypeErrorCtor) || !(await keep(refusals.seen()))) throw error;
    return await keep(outside(again));
  } finally {
    refusals.stop();
  }
}

// How long the browser may take to say that it was the page's policy: the report is a task of its own, queued before
// the request fails.
const reportMs = 100;

/** Watches for the browser's report that connect-src refused an address. */
function watchRefusals(url: string): { seen(): Promise<boolean>; stop(): void } {
  const fragment = indexOf(url, '#');
  const address = fragment < 0 ? url : slice(url, 0, fragment); // as the report has it
  const { promise, resolve } = deferred<boolean>();
  const hear = (event: Event) => {
    if (!event.isTrusted || !isA(event, ViolationCtor)) return;
    if (directiveOf(event) === 'connect-src' && blockedBy(event) === address) resolve(true);
  };
  listen(document, 'securitypolicyviolation', hear);
  return {
    seen() {
      later(() => resolve(false), reportMs);
      return promise;
    },
    stop: () => unlisten(document, 'securitypolicyviolation', hear),
  };
}

/** A request as plain data, for the bridge. */
export interface Described {
  url: string;
  method: string;
  headers: string[][]; // pairs
  redirect: RequestRedirect;
  body?: ArrayBuffer | undefined;
}

/** Describes a request to one of the two callbacks, when its body is read. */
export function describe(
  request: Request,
  done: (about: Described) => void,
  failed: (why: unknown) => void,
): void {
  const headers: string[][] = [];
  eachHeader(headersOf(request), (value, name) => {
    const pair = { value: [name, value], enumerable: true, configurable: true, writable: true };
    defineProperty(headers, headers.length, pair);
  });
  const url = urlOf(request);
  const method = methodOf(request);
  const redirect = redirectOf(request);
  const read = (body: unknown) => {
    const given = isA(body, ArrayBufferCtor) && sizeOf(body) > 0 ? body : undefined;
    done({ url, method, headers, redirect, body: given });
  };
  settle(readBody(request), read, failed);
}

/** https://a.example:8443 of https://a.example:8443/path */
export function originOf(url: string): string {
  const host = indexOf(url, '://') + 3;
  const path = indexOf(url, '/', host);
  return path < 0 ? url : slice(url, 0, path);
}
